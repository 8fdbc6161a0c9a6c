// wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). A product is made when it is issued by
// the last of the four warps. Until it is waited for its registers must not be used, and what it reads must
// not change: a device may do all of it at any time between.
#include "kernels/interpreter/wgmma.hpp"

#include <algorithm>
#include <utility>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/fragment.hpp"
#include "kernels/interpreter/gang.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kMostColumnsOfB = 256;
constexpr unsigned kMostDepthOfK = 32;

/// True when the four warps are here with all lanes.
bool whole_warpgroup(Warp& warp, Mask lanes) {
    return whole_warp(warp, lanes) && warp.block().gather_warpgroup(warp);
}

std::uint32_t first_of(const Warp& warp) {
    return warp.index() / kWarpgroup * kWarpgroup;
}

/// f(warp, its number) for each of the group.
template <typename F>
void for_warps(Warp& warp, F f) {
    for (std::uint32_t w = 0; w < kWarpgroup; ++w)
        f(warp.block().warp(first_of(warp) + w), w);
}

void register_fence(Warp& warp, const Instruction&, Mask lanes) {
    if (!whole_warpgroup(warp, lanes)) return;
    for_warps(warp, [](Warp& one, std::uint32_t) { one.watch_registers(); });
    warp.block().release_warpgroup(warp);
}

void commit_products(Warp& warp, const Instruction&, Mask lanes) {
    if (!whole_warpgroup(warp, lanes)) return;
    ++warp.block().warpgroup(warp).open;
    warp.block().release_warpgroup(warp);
}

/// One that is waited for: what it read must still be there.
void finish(Warp& warp, const Wgmma& product) {
    for_warps(warp, [&](Warp& one, std::uint32_t w) {
        if (&one.frame() != product.frames[w])
            one.fault(FaultCode::illegal_instruction, 0,
                      "not supported by the interpreter: the wgmma.mma_async is of another function");
    });
    if (note_reads(warp.block(), warp, product.reads) != product.checksum)
        warp.fault(FaultCode::launch_failure, 0,
                   "what the wgmma.mma_async of PTX line " + std::to_string(product.line) +
                       " reads was changed before it was waited for");
}

/// One that is not waited for yet.
void keep_in_flight(const Wgmma& product) {
    for (Frame* frame : product.frames) {
        if (frame->marks == nullptr) continue;  // of a function that has ended
        for (std::size_t i = 0; i < product.registers.size(); ++i)
            frame->marks->in_flight[static_cast<std::size_t>(product.registers[i])] = product.marks[i];
    }
}

/// target: how many groups may stay in flight.
void wait_products(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warpgroup(warp, lanes)) return;
    Block& block = warp.block();
    Warpgroup& group = block.warpgroup(warp);
    std::vector<Wgmma> left;
    for_warps(warp, [&](Warp&, std::uint32_t w) { unmark_registers(group, w); });
    for (Wgmma& product : group.pending) {
        if (product.group + static_cast<std::uint64_t>(in.target) < group.open) {
            finish(warp, product);
        } else {
            left.push_back(std::move(product));
        }
    }
    group.pending = std::move(left);
    for (const Wgmma& product : group.pending)
        keep_in_flight(product);
    // The product is one of all four warps: each of them knows that it has ended for all.
    Clocks& clocks = block.gang().clocks();
    std::vector<std::uint32_t> all;
    for_warps(warp, [&](Warp& one, std::uint32_t) { clocks.join(all, block.first_warp() + one.index()); });
    for_warps(warp, [&](Warp& one, std::uint32_t) {
        clocks.adopt(block.first_warp() + one.index(), all);
        block.tick(one.index());
    });
    block.release_warpgroup(warp);
}

/// The value that all lanes of the four warps have to have.
std::uint64_t common_value(Warp& warp, Slot slot, const char* what) {
    const std::uint64_t value = warp.source(slot).lane[0];
    for_warps(warp, [&](Warp& one, std::uint32_t) {
        const Row& row = one.source(slot);
        for (int lane = 0; lane < kLanes; ++lane) {
            if (row.lane[lane] != value)
                one.fault(FaultCode::launch_failure, lane,
                          std::string("the threads of the warpgroup have different descriptors of ") + what);
        }
    });
    return value;
}

bool common_scale(Warp& warp, const Instruction& in) {
    const Mask scale = warp.source_predicate(in);
    for_warps(warp, [&](Warp& one, std::uint32_t) {
        if (one.source_predicate(in) != scale || (scale != 0 && scale != ~Mask{0}))
            one.fault(FaultCode::launch_failure, 0, "the threads of the warpgroup have different scale-d");
    });
    return scale != 0;
}

SharedMatrix shared_matrix(Warp& warp, Slot slot, const WgmmaForm& form, bool is_a) {
    const char* name = is_a ? "A" : "B";
    const std::uint64_t bits = common_value(warp, slot, name);
    SharedMatrix matrix;
    matrix.descriptor = MatrixDescriptor::unpack(bits);
    matrix.k_major = is_a ? form.a_k_major : form.b_k_major;
    matrix.is_a = is_a;
    matrix.extent = is_a ? kWgmmaRows : form.n;
    matrix.k = form.k;
    bool known = true;
    const std::string wrong = fault_of(bits, matrix.k_major, matrix.extent, known);
    if (!known)
        warp.fault(FaultCode::illegal_instruction, 0,
                   "not supported by the interpreter: " + wrong + " in the descriptor of " + name);
    if (!wrong.empty())
        warp.fault(FaultCode::launch_failure, 0, std::string("descriptor of ") + name + ": " + wrong);
    return matrix;
}

void read_fragments(Warp& warp, const WgmmaForm& form, const std::int32_t* slots, double* into) {
    const Shape shape{static_cast<int>(kRowsOfWarp), 8, static_cast<int>(form.k)};
    const std::uint64_t used = bits_of(form.a) == 32 ? 0xffffffff : (1ULL << bits_of(form.a)) - 1;
    for_values(Part::a, shape, mma_position, form.a, static_cast<std::int32_t>(form.fragments()),
               [&](std::int32_t r, unsigned shift, int lane, const Position& at) {
                   into[static_cast<unsigned>(at.row) * form.k + static_cast<unsigned>(at.column)] =
                       element_value(form.a, warp.source(slots[r]).lane[lane] >> shift & used);
               });
}

/// One warp's 16 rows. Sums lie as those of mma.m16n8 do, one eight columns behind the other.
void sum_up(Warp& warp, const WgmmaForm& form, const std::int32_t* slots, const double* a, const double* b,
            bool adds, bool saturates) {
    double sums[kMostColumnsOfB];
    const unsigned per = per_register(form.d);
    const unsigned bits = bits_of(form.d);
    const std::uint64_t used = bits == 32 ? 0xffffffff : (1ULL << bits) - 1;
    for (unsigned row = 0; row < kRowsOfWarp; ++row) {
        std::fill_n(sums, form.n, 0.0);
        for (unsigned k = 0; k < form.k; ++k) {
            const double x = form.negate ? -a[row * form.k + k] : a[row * form.k + k];
            for (unsigned n = 0; n < form.n; ++n)
                sums[n] += x * b[k * form.n + n];
        }
        for (unsigned n = 0; n < form.n; ++n) {
            const unsigned lane = row % 8 * 4 + n % 8 / 2;
            const unsigned value = n / 8 * 4 + row / 8 * 2 + n % 2;
            const unsigned shift = value % per * bits;
            std::uint64_t& into = warp.destination(slots[value / per]).lane[lane];
            const double before = adds ? element_value(form.d, into >> shift & used) : 0.0;
            into = (into & 0xffffffff & ~(used << shift)) | element_bits(form.d, before + sums[n], saturates)
                                                                << shift;
        }
    }
}

/// from[0]: A's descriptor; from[1]: B's; the predicate: scale-d; flags: .satfinite.
void multiply(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warpgroup(warp, lanes)) return;
    Block& block = warp.block();
    const auto& items = warp.frame().function->lists[static_cast<std::size_t>(in.target)].items;
    const WgmmaForm form = WgmmaForm::unpack(items);
    const std::int32_t* slots = items.data() + WgmmaForm::kItems;
    const bool adds = common_scale(warp, in);
    Wgmma product;
    product.line = in.line;
    product.group = block.warpgroup(warp).open;
    if (!form.a_in_registers) product.reads.push_back(shared_matrix(warp, in.from[0], form, true));
    product.reads.push_back(shared_matrix(warp, in.from[1], form, false));
    for_warps(warp,
              [&](Warp& one, std::uint32_t) { check_registers(one, one.frame().marks.get(), form, slots); });
    product.checksum = note_reads(block, warp, product.reads);
    double a[kWgmmaRows * kMostDepthOfK];
    double by_columns[kMostColumnsOfB * kMostDepthOfK];
    double b[kMostDepthOfK * kMostColumnsOfB];
    if (!form.a_in_registers) read_matrix(block, product.reads.front(), form.a, a);
    read_matrix(block, product.reads.back(), form.b, by_columns);
    for (unsigned n = 0; n < form.n; ++n) {
        for (unsigned k = 0; k < form.k; ++k)
            b[k * form.n + n] = by_columns[n * form.k + k];
    }
    for_warps(warp, [&](Warp& one, std::uint32_t w) {
        double* rows = a + w * kRowsOfWarp * form.k;
        if (form.a_in_registers) read_fragments(one, form, slots + form.sums(), rows);
        sum_up(one, form, slots, rows, b, adds, in.flags != 0);
        mark_registers(*one.frame().marks, form, slots);
        product.frames[w] = &one.frame();
    });
    for (std::size_t i = 0; i < form.sums() + form.fragments(); ++i) {
        if (slots[i] < 0) continue;
        product.registers.push_back(slots[i]);
        product.marks.push_back(warp.frame().marks->in_flight[static_cast<std::size_t>(slots[i])]);
    }
    block.warpgroup(warp).pending.push_back(std::move(product));
    block.release_warpgroup(warp);
}

}  // namespace

WgmmaForm WgmmaForm::unpack(const std::vector<std::int32_t>& items) {
    WgmmaForm form;
    form.n = static_cast<unsigned>(items[0]);
    form.k = static_cast<unsigned>(items[1]);
    form.d = static_cast<Element>(items[2]);
    form.a = static_cast<Element>(items[3]);
    form.b = static_cast<Element>(items[4]);
    form.negate = items[5] != 0;
    form.a_k_major = items[6] != 0;
    form.b_k_major = items[7] != 0;
    form.a_in_registers = items[8] != 0;
    return form;
}

std::vector<std::int32_t> WgmmaForm::pack() const {
    const auto number = [](Element element) { return static_cast<std::int32_t>(element); };
    return {static_cast<std::int32_t>(n),
            static_cast<std::int32_t>(k),
            number(d),
            number(a),
            number(b),
            negate ? 1 : 0,
            a_k_major ? 1 : 0,
            b_k_major ? 1 : 0,
            a_in_registers ? 1 : 0};
}

Handler find_wgmma_handler(int kind) {
    constexpr Handler kHandlers[] = {register_fence, commit_products, wait_products, multiply};
    return kHandlers[kind];
}

}  // namespace cudamatrix::suite::ptx

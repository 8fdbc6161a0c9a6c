// Where the interpreter says that lanes hold the elements of matrices, in the form of
// tests/unit/kernels/matrix_layouts.txt. Usage: layouts_of_interpreter SHAPE:ELEMENT...   (m16n8k16:f16)
// mma, A of wgmma in registers, and matrices of wgmma in shared memory, are asked by the functions that they
// are read with; ldmatrix, sums of wgmma, and whose scales a lane holds, by what the instructions do.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "kernels/interpreter/fragment.hpp"
#include "kernels/interpreter/launch.hpp"
#include "kernels/interpreter/matrix_descriptor.hpp"
#include "kernels/interpreter/parser.hpp"

namespace ptx = cudamatrix::suite::ptx;

namespace {

constexpr std::size_t kLanes = ptx::kLanes;
using Table = std::vector<std::vector<ptx::Position>>;  ///< [lane][value]

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "layouts_of_interpreter: %s\n", why.c_str());
    std::exit(1);
}

void print(const std::string& title, const Table& table) {
    std::printf("%s interpreter\n", title.c_str());
    for (const auto& values : table) {
        const char* before = "";
        for (const ptx::Position& at : values) {
            std::printf("%s%d,%d", before, at.row, at.column);
            before = " ";
        }
        std::printf("\n");
    }
}

std::string title(const char* part, int rows, int columns, unsigned bits) {
    return std::string(part) + " " + std::to_string(rows) + " " + std::to_string(columns) + " " +
           std::to_string(bits);
}

void print_mma(const std::string& form) {
    const std::size_t colon = std::min(form.find(':'), form.size() - 1);
    const auto shape = ptx::parse_shape(form.substr(0, colon));
    const auto element = ptx::parse_element(form.substr(colon + 1));
    if (!shape || !element) fail(form + ": expected a form like m16n8k16:f16");
    for (const ptx::Part part : {ptx::Part::a, ptx::Part::b, ptx::Part::c}) {
        const bool sums = part == ptx::Part::c;
        // Any type of 32 bits that sums are of.
        const ptx::Element of = sums ? ptx::Element::f32 : *element;
        Table table(kLanes);
        ptx::for_values(part, *shape, ptx::mma_position, of, ptx::registers_of(part, *shape, of),
                        [&](std::int32_t, unsigned, int lane, const ptx::Position& at) {
                            table[static_cast<std::size_t>(lane)].push_back(at);
                        });
        const char* name = sums ? "C" : part == ptx::Part::a ? "A" : "B";
        print(title(name, ptx::rows_of(part, *shape), ptx::columns_of(part, *shape),
                    sums ? 0 : ptx::bits_of(of)),
              table);
    }
}

/// What some warps make of words, whose address is %rd1, with `body`.
std::vector<std::uint32_t> run(const std::string& body, std::vector<std::uint32_t> words,
                               std::uint32_t threads = kLanes, const std::string& target = "sm_120a") {
    const std::string text =
        ".version 8.7\n.target " + target +
        "\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<30>;\n.reg .f32 %f<129>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, "
        "%tid.x;\n"
        "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd2, %rd2, %rd1;\n" +
        body + "\n}\n";
    auto parsed = ptx::parse_module(text);
    if (parsed.module == nullptr) fail(parsed.error);
    ptx::DeviceMemory memory{std::uint64_t{1} << 20};
    std::string error;
    if (!load_module(*parsed.module, memory, error)) fail(error);
    const std::size_t size = words.size() * sizeof words[0];
    const std::uint64_t address = memory.allocate(size, "");
    if (!memory.copy_in(address, words.data(), size)) fail("no memory");
    ptx::LaunchRequest request;
    request.module = parsed.module.get();
    request.function = parsed.module->entry("k");
    request.block = {threads, 1, 1};
    request.parameters.resize(sizeof address);
    std::memcpy(request.parameters.data(), &address, sizeof address);
    const ptx::LaunchResult result = ptx::launch(request, memory, {});
    if (result.code != 0) fail(result.error);
    if (!memory.copy_out(words.data(), address, size)) fail("no memory");
    return words;
}

/// Each lane writes a row of eight 16-bit elements, which are their numbers; what does it get back?
void print_ldmatrix(int registers, bool transposed) {
    std::string operands;
    for (int i = 0; i < registers; ++i)
        operands += (i == 0 ? "%r" : ", %r") + std::to_string(10 + i);
    const auto words =
        run(".shared .align 16 .b8 s[512];\nmov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, 16, %r2;\n"
            "mad.lo.u32 %r4, %r1, 0x80008, 0x10000;\nadd.u32 %r5, %r4, 0x20002;\nadd.u32 %r6, %r5, 0x20002;\n"
            "add.u32 %r7, %r6, 0x20002;\nst.shared.v4.u32 [%r3], {%r4,%r5,%r6,%r7};\nbar.warp.sync -1;\n"
            "ldmatrix.sync.aligned.m8n8.x" +
                std::to_string(registers) + (transposed ? ".trans" : "") + ".shared.b16 {" + operands +
                "}, [%r3];\nst.global.v4.u32 [%rd2], {%r10,%r11,%r12,%r13};",
            std::vector<std::uint32_t>(4 * kLanes));
    Table table(kLanes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (std::size_t value = 0; value < 2 * static_cast<std::size_t>(registers); ++value) {
            const auto element = static_cast<int>(words[4 * lane + value / 2] >> value % 2 * 16 & 0xffff);
            table[lane].push_back({element / 8, element % 8});
        }
    }
    print(title(transposed ? "trans" : "plain", 8 * registers, 8, 16), table);
}

/// An instruction with scales, and what 1 is in its elements and scales; 2 is the scale `two`.
struct Scaled {
    const char* opcode;
    ptx::Shape shape;
    std::uint32_t ones, one, two;
};

/// Whose elements of D change when one lane's scales do. All of A and B are 1.
int line_of(const Scaled& form, bool of_a, std::size_t lane) {
    const std::size_t thread = of_a ? lane % 4 / 2 : lane % 4;
    std::vector<std::uint32_t> words(4 * kLanes);
    for (std::size_t i = 0; i < kLanes; ++i) {
        words[4 * i] = words[4 * i + 1] = form.one;
        words[4 * i + 2] = form.ones;
    }
    words[4 * lane + (of_a ? 0 : 1)] = form.two;
    const std::string picked = std::to_string(thread);
    words = run("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd2];\nmov.f32 %f1, 0f00000000;\n" +
                    std::string(form.opcode) +
                    " {%f2,%f3,%f4,%f5}, {%r4,%r4,%r4,%r4}, {%r4,%r4}, {%f1,%f1,%f1,%f1}, %r2, {0, " +
                    (of_a ? picked : "0") + "}, %r3, {0, " + (of_a ? "0" : picked) +
                    "};\nst.global.v4.f32 [%rd2], {%f2,%f3,%f4,%f5};",
                words);
    std::vector<int> changed(static_cast<std::size_t>(of_a ? form.shape.m : form.shape.n));
    for (std::size_t at = 0; at < words.size(); ++at) {
        float value = 0;
        std::memcpy(&value, &words[at], sizeof value);
        if (value == static_cast<float>(form.shape.k)) continue;
        if (value != static_cast<float>(2 * form.shape.k)) fail("a scale does not double");
        const ptx::Position place = ptx::mma_position(ptx::Part::c, form.shape, 1, static_cast<int>(at / 4),
                                                      static_cast<unsigned>(at % 4));
        changed[static_cast<std::size_t>(of_a ? place.row : place.column)] += 1;
    }
    const int length = of_a ? form.shape.n : form.shape.m;
    const auto found = std::find(changed.begin(), changed.end(), length);
    if (std::count(changed.begin(), changed.end(), 0) + 1 != static_cast<long>(changed.size()) ||
        found == changed.end())
        fail("lane " + std::to_string(lane) + " does not hold the scales of one line");
    return static_cast<int>(found - changed.begin());
}

void print_scales(const Scaled& form) {
    for (const bool of_a : {true, false}) {
        Table table(kLanes);
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            table[lane].push_back({line_of(form, of_a, lane), 0});
        print(title(of_a ? "SA" : "SB", of_a ? form.shape.m : form.shape.n, form.shape.k, 0), table);
    }
}

/// Threads of wgmma, and bytes from one group of eight rows to the next, of unswizzled matrices.
constexpr std::uint32_t kGroup = 128;

/// Lines of A are (row, 1, 0 ...), of B (256, column, 0 ...): each sum tells where it is.
const char* const kNumberedMatrices =
    ".shared .align 1024 .b8 s[10240];\nmov.u32 %r2, s;\nmov.u32 %r9, 0;\n"
    "shr.u32 %r3, %r1, 3;\nand.b32 %r4, %r1, 7;\nshl.b32 %r3, %r3, 8;\nshl.b32 %r4, %r4, 4;\n"
    "add.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, %r2;\n"
    "cvt.rn.f32.u32 %f1, %r1;\nmov.b32 %r5, %f1;\nshr.u32 %r6, %r5, 16;\n"
    "or.b32 %r7, %r6, 0x3f800000;\nadd.u32 %r8, %r1, 128;\ncvt.rn.f32.u32 %f1, %r8;\nmov.b32 %r8, %f1;\n"
    "and.b32 %r5, %r5, 0xffff0000;\nor.b32 %r5, %r5, 0x4380;\n"
    "and.b32 %r8, %r8, 0xffff0000;\nor.b32 %r8, %r8, 0x4380;\n.reg .pred %p<2>;\n"
    "setp.lt.u32 %p1, %r1, 64;\n@%p1 st.shared.v4.u32 [%r3], {%r7,%r9,%r9,%r9};\n"
    "@%p1 st.shared.v4.u32 [%r3+128], {%r9,%r9,%r9,%r9};\nst.shared.v4.u32 [%r3+2048], {%r5,%r9,%r9,%r9};\n"
    "st.shared.v4.u32 [%r3+2176], {%r9,%r9,%r9,%r9};\nst.shared.v4.u32 [%r3+6144], {%r8,%r9,%r9,%r9};\n"
    "st.shared.v4.u32 [%r3+6272], {%r9,%r9,%r9,%r9};\nfence.proxy.async;\nbar.sync 0;\n"
    "shr.u32 %r2, %r2, 4;\ncvt.u64.u32 %rd3, %r2;\nor.b64 %rd3, %rd3, 0x1000080000;\nadd.u64 %rd4, %rd3, 128;\n";

void print_wgmma_sums(int n) {
    const int each = n / 2;
    std::string sums, stores;
    for (int i = 0; i < each; ++i) {
        sums += (i == 0 ? "%f" : ", %f") + std::to_string(i);
        stores += "st.global.f32 [%rd2+" + std::to_string(4 * i) + "], %f" + std::to_string(i) + ";\n";
    }
    const auto words =
        run(kNumberedMatrices +
                std::string("wgmma.fence.sync.aligned;\n"
                            "setp.ne.u32 %p1, %r9, 0;\n") +
                "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k16.f32.bf16.bf16 {" + sums +
                "}, %rd3, %rd4, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
                "wgmma.wait_group.sync.aligned 0;\nmul.wide.u32 %rd2, %r1, " +
                std::to_string(4 * each) + ";\nadd.s64 %rd2, %rd2, %rd1;\n" + stores,
            std::vector<std::uint32_t>(static_cast<std::size_t>(each) * kGroup), kGroup, "sm_90a");
    Table table(kGroup);
    for (std::size_t at = 0; at < words.size(); ++at) {
        float value = 0;
        std::memcpy(&value, &words[at], sizeof value);
        table[at / static_cast<std::size_t>(each)].push_back(
            {static_cast<int>(value) / 256, static_cast<int>(value) % 256});
    }
    print(title("sums", 64, n, 0), table);
}

void print_wgmma_fragments(ptx::Element element, int k) {
    const ptx::Shape of_warp{16, 8, k};
    Table table(kGroup);
    ptx::for_values(ptx::Part::a, of_warp, ptx::mma_position, element,
                    ptx::registers_of(ptx::Part::a, of_warp, element),
                    [&](std::int32_t, unsigned, int lane, const ptx::Position& at) {
                        for (std::size_t warp = 0; warp < kGroup / kLanes; ++warp)
                            table[warp * kLanes + static_cast<std::size_t>(lane)].push_back(
                                {static_cast<int>(warp) * 16 + at.row, at.column});
                    });
    print(title("fragments", 64, k, ptx::bits_of(element)), table);
}

/// 64 x 16 elements of 16 bits as a tile of patterns, one behind the other along M first: on line m, the byte
/// of each k.
void print_wgmma_matrix(const char* name, ptx::Swizzle swizzle, bool k_major) {
    const std::uint64_t span = ptx::swizzle_span(swizzle);
    const std::uint64_t pattern = 8 * span;
    const std::uint64_t along_m = 64 / (k_major ? 8 : span / 2) * pattern;
    ptx::MatrixDescriptor matrix;
    matrix.swizzle = swizzle;
    // PTX ISA, "Strides": which of the two goes along M depends on the swizzle, too.
    const bool leading_is_k = k_major || swizzle == ptx::Swizzle::none;
    matrix.leading = leading_is_k ? along_m : pattern;
    matrix.stride = leading_is_k ? pattern : along_m;
    Table table(64);
    for (unsigned m = 0; m < 64; ++m) {
        for (unsigned k = 0; k < 16; ++k) {
            const std::uint64_t at = k_major ? matrix.address(true, k / 8, m) + k % 8 * 2
                                             : matrix.address(false, m / 8, k) + m % 8 * 2;
            table[m].push_back({static_cast<int>(at / 2), 0});
        }
    }
    print(title(k_major ? "K-major" : "M-major", 64, 16, 16) + " " + name, table);
}

void print_wgmma() {
    for (int n = 8; n <= 256; n += 8)
        print_wgmma_sums(n);
    print_wgmma_fragments(ptx::Element::tf32, 8);
    print_wgmma_fragments(ptx::Element::f16, 16);
    print_wgmma_fragments(ptx::Element::e4m3, 32);
    for (const bool k_major : {true, false}) {
        print_wgmma_matrix("INTER", ptx::Swizzle::none, k_major);
        print_wgmma_matrix("SW32", ptx::Swizzle::bytes32, k_major);
        print_wgmma_matrix("SW64", ptx::Swizzle::bytes64, k_major);
        print_wgmma_matrix("SW128", ptx::Swizzle::bytes128, k_major);
    }
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        print_mma(argv[i]);
    for (const bool transposed : {false, true}) {
        for (const int registers : {1, 2, 4})
            print_ldmatrix(registers, transposed);
    }
    print_scales(
        {"mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3",
         {16, 8, 64},
         0x22222222,
         0x38383838,
         0x40404040});
    print_scales(
        {"mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0",
         {16, 8, 32},
         0x38383838,
         0x7f7f7f7f,
         0x80808080});
    print_wgmma();
    return 0;
}

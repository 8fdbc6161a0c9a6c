// Where the interpreter says that lanes hold the elements of matrices, in the form of
// tests/unit/kernels/matrix_layouts.txt. Usage: layouts_of_interpreter SHAPE:ELEMENT...   (m16n8k16:f16)
// mma is asked by the function that it reads fragments with; ldmatrix, and whose scales a lane holds, by what
// they do.
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

/// What one warp makes of 1024 words, whose address is %rd1, with `body`.
std::vector<std::uint32_t> run(const std::string& body, std::vector<std::uint32_t> words) {
    const std::string text =
        ".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<30>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, "
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
    request.block = {kLanes, 1, 1};
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
    return 0;
}

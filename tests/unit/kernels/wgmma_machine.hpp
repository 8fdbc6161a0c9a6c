#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "unit/kernels/ptx_machine.hpp"

// A kernel of four warps that multiplies by wgmma what the host has laid out in shared memory.
namespace wgmma_machine {

inline constexpr std::size_t kImage = 32768;  // bytes of shared memory; 1024 more are left
inline constexpr std::size_t kMost = 128;     // registers of sums that a thread gives back

struct Arguments {
    std::uint64_t a = 0;  // descriptors
    std::uint64_t b = 0;
    std::uint64_t image = 0;
    std::uint64_t out = 0;
};

inline std::string text_of(std::size_t number) {
    return std::to_string(number);
}

inline std::string registers(const std::string& name, std::size_t count) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i)
        text += (i == 0 ? "" : ", ") + name + text_of(i);
    return text + "}";
}

// The kernel around `body`: %da and %db hold the descriptors, %d0 ... the sums, which are zero, %e0 ... those
// of 32 bits in .b32, %a0 to %a3 the first words of the output; %t is the thread, %all true.
inline std::string kernel(const std::string& body, const std::string& target = "sm_90a") {
    std::string text =
        ".version 8.0\n.target " + target +
        "\n.address_size 64\n.shared .align 1024 .b8 s[33792];\n"
        ".visible .entry k(.param .u64 da, .param .u64 db, .param .u64 pi, .param .u64 po)\n{\n"
        ".reg .pred %p<9>, %all, %some;\n.reg .b32 %r<20>, %t, %e<128>, %a<4>;\n"
        ".reg .f32 %d<128>, %f<9>;\n.reg .b64 %rd<20>, %da, %db, %image, %out;\n"
        "ld.param.u64 %da, [da]; ld.param.u64 %db, [db];\n"
        "ld.param.u64 %image, [pi]; ld.param.u64 %out, [po];\n"
        "mov.u32 %t, %tid.x; setp.eq.u32 %all, 0, 0; setp.ne.u32 %some, %t, 5;\n"
        "mul.lo.u32 %r2, %t, 16; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; mul.wide.u32 %rd2, %t, 16;\n"
        "add.u64 %rd1, %image, %rd2;\n"
        "mul.wide.u32 %rd3, %t, 512; add.u64 %out, %out, %rd3;\n"
        "COPY: ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];\n"
        "st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};\n"
        "mov.u32 %r8, %ntid.x; mul.lo.u32 %r8, %r8, 16; cvt.u64.u32 %rd4, %r8;\n"
        "add.u32 %r3, %r3, %r8; add.u64 %rd1, %rd1, %rd4; add.u32 %r2, %r2, %r8;\n"
        "setp.lt.u32 %p1, %r2, 32768; @%p1 bra COPY;\n"
        "ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%out];\n"
        "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
    for (std::size_t i = 0; i < kMost; ++i)
        text += "mov.f32 %d" + text_of(i) + ", 0f00000000; mov.b32 %e" + text_of(i) + ", 0;\n";
    return text + body + "\n}\n";
}

inline std::string store(const std::string& name, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += "st.global.b32 [%out+" + text_of(4 * i) + "], " + name + text_of(i) + ";\n";
    return text;
}

inline const std::string kFence = "wgmma.fence.sync.aligned;\n";
inline const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
inline std::string wait(int groups = 0) {
    return "wgmma.wait_group.sync.aligned " + std::to_string(groups) + ";\n";
}
inline std::string mma(const std::string& form, const std::string& d, const std::string& rest,
                       const std::string& a = "%da") {
    return "wgmma.mma_async.sync.aligned." + form + " " + d + ", " + a + ", %db, " + rest + ";\n";
}

// What it gives back; `out`: what lies there before.
inline std::vector<std::uint32_t> run(const std::string& text, const std::vector<std::uint8_t>& image,
                                      std::uint64_t a, std::uint64_t b, std::vector<std::uint32_t> out = {}) {
    PtxMachine machine(text);
    machine.options.threads = 1;
    out.resize(128 * kMost);
    Arguments arguments{a, b, machine.upload(image), machine.upload(out)};
    const std::string error = machine.launch("k", {}, {128, 1, 1}, arguments);
    REQUIRE(error == "");
    return machine.download<std::uint32_t>(arguments.out, out.size());
}

// The fault of a body, without what comes before it, or "".
inline std::string fault(const std::string& body, std::uint64_t a, std::uint64_t b,
                         std::uint32_t threads = 128, const std::string& target = "sm_90a") {
    PtxMachine machine(kernel(body, target));
    machine.options.threads = 1;
    machine.options.step_limit = 2000000;
    Arguments arguments{a, b, machine.upload(std::vector<std::uint8_t>(kImage)),
                        machine.upload(std::vector<std::uint32_t>(160 * kMost))};
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, arguments);
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

inline std::uint64_t descriptor(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                                int swizzle) {
    return start / 16 | leading / 16 << 16 | stride / 16 << 32 | static_cast<std::uint64_t>(swizzle) << 62;
}

// Where an element of `size` bytes lies in a matrix that begins at 0: rows of M or N, by the patterns' rows
// and not by bits of addresses (CuTe, canonical layouts of GMMA).
struct Layout {
    int swizzle = 1;  // as in descriptors: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
    bool k_major = true;
    std::size_t size = 2;
    std::size_t leading = 0;
    std::size_t stride = 0;

    [[nodiscard]] std::size_t at(std::size_t row, std::size_t k) const {
        const std::size_t along = (k_major ? k : row) * size;
        const std::size_t across = k_major ? row : k;
        if (swizzle == 0) {
            const std::size_t chunk = along / 16 * (k_major ? leading : stride);
            return chunk + across / 8 * (k_major ? stride : leading) + across % 8 * 16 + along % 16;
        }
        const std::size_t span = std::size_t{256} >> swizzle;
        const std::size_t turn = across % 8 >> (swizzle - 1);  // 8, 4 or 2 different ones in 8 rows
        const std::size_t chunk = (along % span / 16) ^ turn;
        return along / span * leading + across / 8 * stride + across % 8 * span + chunk * 16 + along % 16;
    }
    [[nodiscard]] std::uint64_t at_address(std::uint64_t start) const {
        return descriptor(start, leading, stride, swizzle);
    }
};

}  // namespace wgmma_machine

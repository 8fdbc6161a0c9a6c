// The checkers of the memory tests: red on every planted defect, green on the kernel bodies as they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/compute/check.hpp"
#include "kernels/memory/copy.hpp"
#include "kernels/memory/triad.hpp"
#include "unit/kernels/defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

TEST_CASE("mem.copy: green as it is, red with each planted defect") {
    constexpr std::size_t kBytes = (1 << 20) + 13;
    const CopyInputs in = copy_inputs(kBytes);
    const CopyOutputs good = copy_on_cpu(in);
    const std::size_t words = kBytes / sizeof(Word128);
    const auto bytes_of = [](auto& out) { return reinterpret_cast<unsigned char*>(out.to.data()); };
    const CopyOutputs blank = copy_blank(in);
    CopyInputs earlier = in;
    for (Word128& word : earlier.from)
        word.y ^= 0x80U;
    const CopyOutputs old = copy_on_cpu(earlier);
    check_defects<CopyInputs, CopyOutputs>(
        copy_check, in, good,
        {{"no-op kernel", [&](auto& out) { out = blank; }},
         {"kernel whose work was cut away: it reports, but writes nothing",
          [&](auto& out) { out.to = blank.to; }},
         {"nothing reports", [](auto& out) { out.flag = {}; }},
         {"one block did not come to its end", [](auto& out) { out.flag.blocks -= 1; }},
         {"the bytes that are no whole word are left out",
          [&](auto& out) { out.to[words] = blank.to[words]; }},
         {"the last byte is left out",
          [&](auto& out) {
              bytes_of(out)[kBytes - 1] = reinterpret_cast<const unsigned char*>(&kBlankBits)[0];
          }},
         {"the last word is copied whole: it writes beyond the end",
          [&](auto& out) { out.to[words] = in.from[words]; }},
         {"one byte beyond the end", [&](auto& out) { bytes_of(out)[kBytes] ^= 1U; }},
         {"one word beyond the end", [&](auto& out) { out.to[words + 1] = {}; }},
         {"the end of the guard", [](auto& out) { out.to.back().w = 0; }},
         {"the last whole word is left out", [&](auto& out) { out.to[words - 1] = blank.to[words - 1]; }},
         {"stale buffer: the second half is of an earlier copy",
          [&](auto& out) {
              std::copy_n(old.to.begin() + long(words / 2), words / 2, out.to.begin() + long(words / 2));
          }},
         {"off-by-one stride: each word is its neighbour",
          [&](auto& out) { std::copy_n(in.from.begin() + 1, words - 1, out.to.begin()); }},
         {"one block's words are left out",
          [&](auto& out) { std::copy_n(blank.to.begin() + 256, 256, out.to.begin() + 256); }},
         {"a grid of two blocks: the words of the others are left out",
          [&](auto& out) { std::fill(out.to.begin() + 512, out.to.begin() + long(words), blank.to[0]); }},
         {"half a word: 64 bits of each",
          [&](auto& out) {
              for (std::size_t i = 0; i < words; ++i) {
                  out.to[i].z = blank.to[0].z;
                  out.to[i].w = blank.to[0].w;
              }
          }},
         {"two words exchanged", [](auto& out) { std::swap(out.to[100], out.to[101]); }},
         {"the halves of a word exchanged", [](auto& out) { std::swap(out.to[100].x, out.to[100].y); }},
         {"output cut short", [&](auto& out) { out.to.resize(words / 2); }}});
    // Any one bit of some words.
    for (const std::size_t byte : {std::size_t{0}, kBytes / 2, kBytes - 14, kBytes - 1}) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            CopyOutputs out = good;
            bytes_of(out)[byte] ^= static_cast<unsigned char>(1U << bit);
            CHECK_MESSAGE(red(copy_check(in, out, "CPU")), byte << " " << bit);
        }
    }
    CopyOutputs other = good;
    other.to[77].z ^= 4U;
    CHECK(copy_check(in, other, "CPU").summary ==
          "exact: 1 of 65537 words of 16 bytes differ, the first at byte 1232");
}

TEST_CASE("mem.copy: sizes at the edges of a word") {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17},
                                    std::size_t{4096}, std::size_t{4097}}) {
        const CopyInputs in = copy_inputs(bytes);
        CopyOutputs out = copy_on_cpu(in);
        CHECK_MESSAGE(green(copy_check(in, out, "CPU")), bytes);
        reinterpret_cast<unsigned char*>(out.to.data())[bytes] ^= 1U;
        CHECK_MESSAGE(red(copy_check(in, out, "CPU")), bytes);
    }
}

TEST_CASE("mem.triad: green as it is, red with each planted defect") {
    const TriadInputs in = triad_inputs((64 << 10) + 3);
    const TriadOutputs good = triad_on_cpu(in);
    const TriadOutputs blank = triad_blank(in);
    const std::size_t n = in.b.size();
    const auto with = [&](const auto& element) {
        TriadOutputs out = good;
        for (std::size_t i = 0; i < n; ++i)
            out.a[i] = element(i);
        return out;
    };
    check_defects<TriadInputs, TriadOutputs>(
        triad_check, in, good,
        {{"no-op kernel", [&](auto& out) { out = blank; }},
         {"kernel whose work was cut away: it reports, but writes nothing",
          [&](auto& out) { out.a = blank.a; }},
         {"nothing reports", [](auto& out) { out.flag = {}; }},
         {"one block did not come to its end", [](auto& out) { out.flag.blocks -= 1; }},
         {"rounds twice: a product, then a sum",
          [&](auto& out) {
              out = with([&](std::size_t i) {
                  const volatile double product = in.s * in.c[i];
                  return product + in.b[i];
              });
          }},
         {"rounds twice in one element",
          [&](auto& out) {
              for (std::size_t i = 0; i < n; ++i) {
                  const volatile double product = in.s * in.c[i];
                  out.a[i] = product + in.b[i];
                  if (std::memcmp(&out.a[i], &good.a[i], sizeof(double)) != 0) break;
              }
          }},
         {"float32 inside",
          [&](auto& out) {
              out = with([&](std::size_t i) {
                  return static_cast<double>(std::fma(static_cast<float>(in.s), static_cast<float>(in.c[i]),
                                                      static_cast<float>(in.b[i])));
              });
          }},
         {"operands exchanged: c + s * b",
          [&](auto& out) { out = with([&](std::size_t i) { return std::fma(in.s, in.b[i], in.c[i]); }); }},
         {"s of the other sign",
          [&](auto& out) { out = with([&](std::size_t i) { return std::fma(-in.s, in.c[i], in.b[i]); }); }},
         {"a copy: b", [&](auto& out) { out = with([&](std::size_t i) { return in.b[i]; }); }},
         {"the last element is left out", [&](auto& out) { out.a[n - 1] = blank.a[0]; }},
         {"writes beyond the end", [&](auto& out) { out.a[n] = 0; }},
         {"off-by-one stride: each element is its neighbour",
          [&](auto& out) { std::copy_n(good.a.begin() + 1, n - 1, out.a.begin()); }},
         {"stale buffer: the second half is of an earlier run",
          [&](auto& out) {
              TriadInputs earlier = in;
              earlier.s = 2;
              const TriadOutputs old = triad_on_cpu(earlier);
              std::copy_n(old.a.begin() + long(n / 2), n / 2, out.a.begin() + long(n / 2));
          }},
         {"not a number in one element", [](auto& out) { out.a[5] = std::nan(""); }},
         {"output cut short", [&](auto& out) { out.a.resize(n / 2); }}});
    // Any one bit of some elements.
    for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
        for (int bit = 0; bit < 64; ++bit) {
            TriadOutputs out = good;
            std::uint64_t bits = 0;
            std::memcpy(&bits, &out.a[i], sizeof bits);
            bits ^= std::uint64_t{1} << bit;
            std::memcpy(&out.a[i], &bits, sizeof bits);
            CHECK_MESSAGE(red(triad_check(in, out, "CPU")), i << " " << bit);
        }
    }
}

TEST_CASE("mem.triad: the sign of zero counts") {
    const TriadInputs zero{{-0.0, 0.0}, {0.0, -0.0}, -1.0};
    TriadOutputs out = triad_on_cpu(zero);
    CHECK(green(triad_check(zero, out, "CPU")));
    CHECK(std::signbit(out.a[0]));
    out.a[0] = 0.0;
    CHECK(triad_check(zero, out, "CPU").summary == "exact: 1 of 2 elements differ, the first at 0");
}

TEST_CASE("mem.triad: inputs have idle bits nowhere") {
    const TriadInputs in = triad_inputs(4096);
    std::size_t twice = 0;  // elements that a product of its own would change
    for (std::size_t i = 0; i < in.b.size(); ++i) {
        CHECK(std::fabs(in.b[i]) < 1);
        CHECK(std::fabs(in.c[i]) < 1);
        CHECK(in.c[i] != 0);
        const volatile double product = in.s * in.c[i];
        twice += product + in.b[i] == std::fma(in.s, in.c[i], in.b[i]) ? 0 : 1;
    }
    CHECK(twice > in.b.size() / 8);
}

TEST_CASE("the parts of memory tests that images run pass") {
    CHECK(green(copy_cpu_part({})));
    CHECK(green(triad_cpu_part({})));
}

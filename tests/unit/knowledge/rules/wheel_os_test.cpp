// The install rules on Windows and macOS, whose wheels are not those of Linux.
#include <doctest/doctest.h>

#include <string>

#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kPublished = "torch-published-for-arch";
constexpr std::string_view kPython = "torch-supports-python";

Words on(std::string os, std::string torch) {
    return {{Field::os, os}, {Field::torch, torch}};
}
Words on(std::string os, std::string torch, std::string python) {
    return {{Field::os, os}, {Field::torch, torch}, {Field::python, python}};
}
Words and_also(Words words, Field field, std::string value) {
    words.emplace_back(field, std::move(value));
    return words;
}

}  // namespace

TEST_CASE("there is no CUDA build of torch for macOS") {
    CHECK(message_of(kPublished, on("macos", "1.12.1+cu113")) ==
          "CUDA builds of torch are not made for macOS: what torch 1.12.1 has there uses no NVIDIA GPU");
    CHECK(fix_of(kPublished, on("macos", "1.12.1+cu113")) == "torch 1.12.1, or os ubuntu24.04");
    CHECK(verdict_of(kPublished, and_also(on("macos", "2.6.0"), Field::gpu, "RTX 4090")) ==
          Verdict::rejected);
    CHECK(fix_of(kPublished, and_also(on("macos", "2.6.0"), Field::gpu, "RTX 4090")) == "os ubuntu24.04");
    CHECK(ask(kPython, on("macos", "2.1.2+cu118", "3.10")).empty());
}

TEST_CASE("wheels for Macs with an x86_64 processor end with torch 2.2.2") {
    CHECK(message_of(kPublished, and_also(on("macos", "2.6.0"), Field::arch, "x86_64")) ==
          "the default index has no wheel of torch 2.6.0 for macOS on x86_64: torch 2.2.2 is the newest that "
          "has one");
    CHECK(fix_of(kPublished, and_also(on("macos", "2.6.0"), Field::arch, "x86_64")) ==
          "torch 2.2.2, or os ubuntu24.04");
    for (const auto& words : {and_also(on("macos", "2.2.2"), Field::arch, "x86_64"),
                              and_also(on("macos", "2.15.0"), Field::arch, "aarch64"), on("macos", "2.6.0")})
        CHECK(ask(kPublished, words).empty());
    CHECK(ask(kPython, and_also(on("macos", "2.6.0", "3.11"), Field::arch, "x86_64")).empty());
}

TEST_CASE("on Windows the default index serves CPU builds") {
    CHECK(message_of(kPublished, on("windows", "2.6.0")) ==
          "torch 2.6.0 for Windows is a CPU build on the default index, where Linux gets cu124: it installs "
          "without a word and sees no GPU");
    CHECK(verdict_of(kPublished, on("windows", "2.6.0")) == Verdict::degraded);
    CHECK(verdict_of(kPublished, and_also(on("windows", "2.6.0"), Field::gpu, "RTX 4090")) ==
          Verdict::rejected);
    CHECK(fix_of(kPublished, and_also(on("windows", "2.6.0"), Field::gpu, "RTX 4090")) ==
          "torch 2.6.0+cu124");
    CHECK(message_of(kPublished, on("windows", "1.6.0")) ==
          "the default index has no wheel of torch 1.6.0 for Windows on x86_64");
    for (const auto& words : {on("windows", "2.6.0+cu124"), on("windows", "2.6.0+cpu"), on("windows", "none"),
                              on("windows", "9.9.9")})
        CHECK(ask(kPublished, words).empty());
}

TEST_CASE("pythons on Windows and macOS are those of their own wheels") {
    CHECK(message_of(kPython, on("windows", "1.13.1", "3.11")) ==
          "torch 1.13.1 has no wheel for python 3.11 on Windows: it has them for 3.7, 3.8, 3.9, 3.10");
    CHECK(fix_of(kPython, on("windows", "1.13.1", "3.11")) == "python 3.10");
    CHECK(verdict_of(kPython, on("windows", "1.13.1+cu117", "3.11")) == Verdict::rejected);
    CHECK(verdict_of(kPython, on("macos", "2.2.2", "3.13")) == Verdict::rejected);
    for (const auto& words : {on("windows", "1.13.1", "3.10"), on("windows", "2.7.0+cu128", "3.10.11"),
                              on("macos", "2.15.0", "3.15"), on("windows", "1.6.0", "3.7")})
        CHECK(ask(kPython, words).empty());
    CHECK(message_of(kPython, on("windows", "1.8.1+cu102", "3.5")) ==
          "torch 1.8.1+cu102 has no wheel for python 3.5: those of torch 1.8.1 are for 3.6 to 3.9");
    CHECK(message_of(kPython, on("windows", "2.4.1+cu124", "3.10")) ==
          "no fact lists the wheels of torch 2.4.1+cu124 for Windows: whether there is one for python 3.10 "
          "is unknown");
}

TEST_CASE("Windows and macOS have no C library of Linux to ask for") {
    for (const auto* os : {"windows", "windows11", "macos"}) {
        CHECK(ask("wheel-runs-on-libc", on(os, "2.7.1")).empty());
        CHECK(ask("glibc-supported-by-cuda", {{Field::os, os}, {Field::cuda, "12.4.1"}}).empty());
        CHECK(ask("end-of-life", {{Field::os, "windows"}}).empty());
    }
}

#pragma once

#include <dlfcn.h>

#include <deque>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "unit/fatbin/fixture.hpp"
#include "unit/kernels/ptx_machine.hpp"
#include "unit/kernels/scratch.hpp"

/// The stand-in for libcudart, as a program that nvcc built finds it. Each object has a runtime of its own.
class Cudart {
  public:
    /// `version`: of the soname.
    explicit Cudart(const std::string& version = "13") : version_("libcudart.so." + version) {
        // Another file is another library to the loader, with state of its own.
        const std::filesystem::path folder = std::filesystem::path(SUITE_CUDART).parent_path();
        const std::filesystem::path copy = std::filesystem::path(scratch_.path()) / version_;
        std::filesystem::copy_file(folder / version_, copy);
        handle_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
        REQUIRE_MESSAGE(handle_ != nullptr, dlerror());
    }

    /// Calls `name` with whatever arguments.
    template <typename Result = int, typename... Arguments>
    Result call(const char* name, Arguments... arguments) {
        using Function = Result (*)(Arguments...);
        void* symbol = dlvsym(handle_, name, version_.c_str());
        REQUIRE_MESSAGE(symbol != nullptr, name);
        return reinterpret_cast<Function>(symbol)(arguments...);
    }

    /// Registers a kernel `k` of ptx_kernel() that the function `host` of the program stands for.
    void add_kernel(const char* host, const std::string& body) { add_module(host, ptx_kernel(body)); }
    void add_module(const char* host, const std::string& text, unsigned short arch = 80,
                    std::uint64_t flags = 0x11) {
        binaries_.push_back(
            fixture::container({fixture::entry({1, arch, flags, 8, 0, 0, 64}, fixture::Blob().text(text))}));
        wrappers_.emplace_back();
        wrappers_.back().data = binaries_.back().bytes().data();
        void** image = call<void**>("__cudaRegisterFatBinary", static_cast<void*>(&wrappers_.back()));
        call<void>("__cudaRegisterFunction", image, host, const_cast<char*>(host), "k", -1,
                   static_cast<void*>(nullptr), static_cast<void*>(nullptr), static_cast<void*>(nullptr),
                   static_cast<void*>(nullptr), static_cast<int*>(nullptr));
        call<void>("__cudaRegisterFatBinaryEnd", image);
    }

    // --- calls that most tests make ---
    using Dim3 = cudamatrix::suite::ptx::Dim3;
    int launch(const void* host, Dim3 grid, Dim3 block, std::vector<void*> arguments,
               void* stream = nullptr) {
        return call("cudaLaunchKernel", host, grid, block, arguments.data(), std::size_t{0}, stream);
    }
    /// Memory with the bytes of `values`.
    void* upload(const std::vector<std::uint32_t>& values) {
        void* memory = nullptr;
        const std::size_t size = values.size() * sizeof values[0];
        REQUIRE(call("cudaMalloc", &memory, size) == 0);
        REQUIRE(call("cudaMemcpy", memory, static_cast<const void*>(values.data()), size, 1) == 0);
        return memory;
    }
    std::vector<std::uint32_t> download(const void* memory, std::size_t count) {
        std::vector<std::uint32_t> values(count);
        REQUIRE(call("cudaMemcpy", static_cast<void*>(values.data()), memory, count * sizeof values[0], 2) ==
                0);
        return values;
    }
    void* stream(unsigned flags = 1) {
        void* made = nullptr;
        REQUIRE(call("cudaStreamCreateWithFlags", &made, flags) == 0);
        return made;
    }
    void* event() {
        void* made = nullptr;
        REQUIRE(call("cudaEventCreate", &made) == 0);
        return made;
    }

  private:
    struct Wrapper {
        std::uint32_t magic = 0x466243b1;
        std::uint32_t version = 1;
        const void* data = nullptr;
        const void* files = nullptr;
    };

    scratch::Folder scratch_;
    std::string version_;
    void* handle_ = nullptr;
    std::deque<fixture::Blob> binaries_;
    std::deque<Wrapper> wrappers_;
};

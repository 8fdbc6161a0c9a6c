#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/interpreter/launch.hpp"
#include "kernels/interpreter/parser.hpp"

/// A device with one module, for tests of the interpreter.
class PtxMachine {
  public:
    explicit PtxMachine(const std::string& text) {
        auto parsed = cudamatrix::suite::ptx::parse_module(text);
        REQUIRE_MESSAGE(parsed.module != nullptr, parsed.error);
        module = std::move(parsed.module);
        std::string error;
        REQUIRE(load_module(*module, memory, error));
        options.print = [this](const std::string& more) { printed += more; };
    }

    /// Memory with the bytes of `values`.
    template <typename T>
    std::uint64_t upload(const std::vector<T>& values) {
        const std::uint64_t address = memory.allocate(values.size() * sizeof(T), "");
        REQUIRE(memory.copy_in(address, values.data(), values.size() * sizeof(T)));
        return address;
    }
    template <typename T>
    std::vector<T> download(std::uint64_t address, std::size_t count) {
        std::vector<T> values(count);
        REQUIRE(memory.copy_out(values.data(), address, count * sizeof(T)));
        return values;
    }

    /// `arguments`: an object with the layout of the kernel's parameters.
    template <typename T>
    std::string launch(const std::string& kernel, cudamatrix::suite::ptx::Dim3 grid,
                       cudamatrix::suite::ptx::Dim3 block, const T& arguments, std::uint32_t shared = 0) {
        cudamatrix::suite::ptx::LaunchRequest request;
        request.module = module.get();
        request.function = module->entry(kernel);
        REQUIRE(request.function != nullptr);
        request.grid = grid;
        request.block = block;
        request.dynamic_shared = shared;
        request.cooperative = cooperative;
        request.cluster = cluster;
        request.parameters.resize(request.function->kernel_param_size);
        std::memcpy(request.parameters.data(), &arguments,
                    std::min(sizeof arguments, request.parameters.size()));
        result = cudamatrix::suite::ptx::launch(request, memory, options);
        return result.error;
    }

    std::unique_ptr<cudamatrix::suite::ptx::Module> module;
    cudamatrix::suite::ptx::DeviceMemory memory{std::uint64_t{1} << 30};
    cudamatrix::suite::ptx::RunOptions options;
    cudamatrix::suite::ptx::LaunchResult result;
    std::string printed;
    bool cooperative = false;  ///< how it launches
    cudamatrix::suite::ptx::Dim3 cluster;
};

inline std::string ptx_file(const std::string& name) {
    std::ifstream file(std::string(SUITE_KERNELS_DIR) + "/../tests/unit/kernels/ptx/" + name);
    std::stringstream text;
    text << file.rdbuf();
    REQUIRE(!text.str().empty());
    return text.str();
}

/// A module with one kernel `k`, whose parameter p is an address; %rd1 holds it, %r1 the thread's index.
inline std::string ptx_kernel(const std::string& body, const std::string& before = "") {
    return ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
           ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<9>;\n"
           ".reg .b64 %rd<9>;\n.reg .f64 %fd<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" +
           body + "\n}\n";
}

// The suite's own kernels, compiled to PTX by nvcc 13.0.88 (-ptx -O3 -arch=compute_80), run by the
// interpreter and judged by the suite's own checkers.
#include <doctest/doctest.h>

#include "kernels/compute/reduce.hpp"
#include "kernels/compute/reduce_body.hpp"
#include "kernels/compute/sgemm.hpp"
#include "kernels/compute/sgemm_body.hpp"
#include "kernels/compute/vadd.hpp"
#include "kernels/compute/vadd_body.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

template <typename T>
T* device(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
}

Record run_vadd(const std::string& ptx, std::string& error) {
    PtxMachine machine(ptx);
    const VaddInputs inputs = vadd_inputs();
    VaddOutputs outputs = vadd_blank(inputs);
    const auto c = machine.upload(outputs.c);
    const auto flag = machine.upload(std::vector<RunFlag>(1));
    const VaddArgs args{device<float>(machine.upload(inputs.a)), device<float>(machine.upload(inputs.b)),
                        device<float>(c), static_cast<long>(inputs.a.size()), device<RunFlag>(flag)};
    error = machine.launch("cudamatrix_vadd", {kVaddBlocks, 1, 1}, {kVaddThreads, 1, 1}, args);
    outputs.c = machine.download<float>(c, outputs.c.size());
    outputs.flag = machine.download<RunFlag>(flag, 1)[0];
    return vadd_check(inputs, outputs, "PTX");
}

Record run_reduce(const std::string& ptx, std::string& error) {
    PtxMachine machine(ptx);
    const ReduceInputs inputs = reduce_inputs();
    ReduceOutputs outputs = reduce_blank();
    const auto sums = machine.upload(outputs.block_sums);
    const auto total = machine.upload(std::vector<double>(1));
    const auto integer_total = machine.upload(std::vector<unsigned long long>(1));
    const auto flag = machine.upload(std::vector<RunFlag>(1));
    const ReduceArgs args{device<float>(machine.upload(inputs.values)),
                          device<int>(machine.upload(inputs.integers)),
                          static_cast<long>(inputs.values.size()),
                          device<float>(sums),
                          device<double>(total),
                          device<unsigned long long>(integer_total),
                          device<RunFlag>(flag)};
    error = machine.launch("cudamatrix_reduce", {kReduceBlocks, 1, 1}, {kReduceThreads, 1, 1}, args);
    outputs.block_sums = machine.download<float>(sums, outputs.block_sums.size());
    outputs.total = machine.download<double>(total, 1)[0];
    outputs.integer_total = machine.download<unsigned long long>(integer_total, 1)[0];
    outputs.flag = machine.download<RunFlag>(flag, 1)[0];
    return reduce_check(inputs, outputs, "PTX");
}

Record run_sgemm(const std::string& ptx, std::string& error, const SgemmInputs& inputs = sgemm_inputs()) {
    PtxMachine machine(ptx);
    SgemmOutputs outputs = sgemm_blank(inputs);
    const auto c = machine.upload(outputs.c);
    const auto flag = machine.upload(std::vector<RunFlag>(1));
    const SgemmArgs args{device<float>(machine.upload(inputs.a)),
                         device<float>(machine.upload(inputs.b)),
                         device<float>(c),
                         inputs.m,
                         inputs.n,
                         inputs.k,
                         device<RunFlag>(flag)};
    error = machine.launch("cudamatrix_sgemm", {static_cast<std::uint32_t>(sgemm_blocks(inputs)), 1, 1},
                           {kSgemmThreads, 1, 1}, args);
    outputs.c = machine.download<float>(c, outputs.c.size());
    outputs.flag = machine.download<RunFlag>(flag, 1)[0];
    return sgemm_check(inputs, outputs, "PTX");
}

std::string replaced(std::string text, const std::string& what, const std::string& with, bool all = false) {
    std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = all ? text.find(what, at + with.size()) : std::string::npos)
        text.replace(at, what.size(), with);
    return text;
}

}  // namespace

TEST_CASE("interpreter: the suite's kernels pass their own checks") {
    std::string error;
    CHECK(run_vadd(ptx_file("vadd.ptx"), error).status == Status::pass);
    CHECK(error.empty());
    CHECK(run_reduce(ptx_file("reduce.ptx"), error).status == Status::pass);
    CHECK(error.empty());
    CHECK(run_sgemm(ptx_file("sgemm.ptx"), error).status == Status::pass);
    CHECK(error.empty());
    CHECK(run_sgemm(ptx_file("sgemm.ptx"), error, sgemm_aligned_inputs()).status == Status::pass);
    CHECK(error.empty());
}

// The faults of the trial: what the CPU back end cannot show must turn red here.
TEST_CASE("interpreter: planted faults of the suite's kernels are found") {
    const std::string reduce = ptx_file("reduce.ptx");
    std::string error;
    SUBCASE("shuffle up instead of down") {
        CHECK(run_reduce(replaced(reduce, "shfl.sync.down", "shfl.sync.up", true), error).status ==
              Status::fail);
    }
    SUBCASE("a member mask of half a warp") {
        run_reduce(replaced(reduce, "mov.u32 \t%r33, -1;", "mov.u32 \t%r33, 65535;"), error);
        CHECK(
            error.substr(error.find("thread")) ==
            "thread (16,0,0), PTX line 151 \"shfl.sync.down.b32 \t%r34|%p7, %r29, %r32, %r31, %r33;\": the member "
            "mask 0xffff lacks the lane 16 itself");
    }
    SUBCASE("no barrier before the warps' sums are read") {
        run_reduce(replaced(reduce, "bar.sync \t0;", "", true), error);
        CHECK(error.find("that nothing has written") != std::string::npos);
    }
    SUBCASE("a lost update") {
        const std::string plain =
            "ld.global.f64 %fd2, [%rd114]; add.f64 %fd2, %fd2, %fd1; st.global.f64 [%rd114], %fd2;";
        run_reduce(replaced(reduce, "atom.global.add.f64 \t%fd2, [%rd114], %fd1;", plain), error);
        CHECK(error.find("race: ") != std::string::npos);
    }
    SUBCASE("every block adds the same part") {
        CHECK(run_vadd(replaced(ptx_file("vadd.ptx"), "%ctaid.x", "0"), error).status == Status::fail);
    }
    SUBCASE("sgemm without barriers") {
        run_sgemm(replaced(ptx_file("sgemm.ptx"), "bar.sync \t0;", "", true), error);
        CHECK(!error.empty());
    }
}

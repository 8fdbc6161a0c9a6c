#include "kernels/compute/sgemm.hpp"

#include "kernels/compute/check.hpp"
#include "kernels/exec/cpu_block.hpp"

namespace cudamatrix::suite {

SgemmInputs sgemm_inputs() {
    return sgemm_inputs(391, 389, 1021);
}

SgemmInputs sgemm_aligned_inputs() {
    return sgemm_inputs(260, 132, 68);
}

SgemmInputs sgemm_inputs(int m, int n, int k) {
    return product_inputs(kSgemmId, m, n, k);
}

int sgemm_blocks(const SgemmInputs& in) {
    return in.blocks();
}

SgemmOutputs sgemm_blank(const SgemmInputs& in) {
    return {blank_output(in.results()), {}};
}

SgemmOutputs sgemm_on_cpu(const SgemmInputs& in) {
    SgemmOutputs out = sgemm_blank(in);
    const SgemmArgs args{in.a.data(), in.b.data(), out.c.data(), in.m, in.n, in.k, &out.flag};
    SgemmShared shared{};
    run_on_cpu(sgemm_blocks(in), kSgemmThreads, [&](CpuBlock& block) { sgemm_body(block, shared, args); });
    return out;
}

Record sgemm_check(const SgemmInputs& in, const SgemmOutputs& out, const char* backend) {
    Record record;
    check_ran(record, out.flag, sgemm_blocks(in));
    check_written(record, out.c, in.results());
    check_product(record, in, out.c);
    return judge(record, "tolerance", in.shape() + " within the bounds (" + backend + ")");
}

Record sgemm_both(Record odd, Record aligned) {
    if (odd.status != Status::pass) return odd;
    for (Check& check : aligned.checks)
        check.name = "aligned_" + check.name;
    if (aligned.status != Status::pass) return aligned;
    odd.checks.insert(odd.checks.end(), aligned.checks.begin(), aligned.checks.end());
    odd.summary += ", " + aligned.summary;
    return odd;
}

Record sgemm_cpu_part(const Context&) {
    const SgemmInputs odd = sgemm_inputs();
    const SgemmInputs aligned = sgemm_aligned_inputs();
    return sgemm_both(sgemm_check(odd, sgemm_on_cpu(odd), "CPU"),
                      sgemm_check(aligned, sgemm_on_cpu(aligned), "CPU"));
}

}  // namespace cudamatrix::suite

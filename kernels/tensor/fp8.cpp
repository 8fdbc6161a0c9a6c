#include "kernels/tensor/fp8.hpp"

#include <utility>

namespace cudamatrix::suite {
namespace {

// The formats themselves have an error of 3e-2 and more.
constexpr double kLimit = 5e-3;

void say_format(Record& record, const std::string& format) {
    for (Check& check : record.checks)
        check.name = format + "_" + check.name;
    record.summary = format + ": " + record.summary;
}

}  // namespace

TensorInputs<TensorE4m3> e4m3_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorE4m3>(shape);
}

TensorInputs<TensorE5m2> e5m2_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorE5m2>(shape);
}

Record e4m3_check(const TensorInputs<TensorE4m3>& in, const TensorOutputs<TensorE4m3>& out,
                  const char* backend) {
    return tensor_check(in, out, kLimit, backend, kFp8SumEps);
}

Record e5m2_check(const TensorInputs<TensorE5m2>& in, const TensorOutputs<TensorE5m2>& out,
                  const char* backend) {
    return tensor_check(in, out, kLimit, backend, kFp8SumEps);
}

Record both_formats(Record e4m3, Record e5m2) {
    const std::string passed = "e4m3 and e5m2: " + e5m2.summary;
    say_format(e4m3, "e4m3");
    say_format(e5m2, "e5m2");
    if (e4m3.status != Status::pass) return e4m3;
    if (e5m2.status != Status::pass) return e5m2;
    e4m3.checks.insert(e4m3.checks.end(), e5m2.checks.begin(), e5m2.checks.end());
    e4m3.summary = passed;
    return e4m3;
}

}  // namespace cudamatrix::suite

#include "kernels/tensor/nvfp4.hpp"

namespace cudamatrix::suite {
namespace {

/// From 0.25 to 3.75: far enough apart that a wrong scale shows, and near enough that none is lost among the
/// others.
constexpr unsigned kLeastScale = 5U << 3;
constexpr unsigned kScales = 32;

std::uint8_t byte_of(const Philox& philox, std::size_t i, unsigned stream) {
    return static_cast<std::uint8_t>(philox.bits(i, stream) >> 8);
}

void draw(const Philox& philox, unsigned stream, int lines, int k, std::vector<std::uint8_t>& numbers,
          std::vector<std::uint8_t>& scales) {
    numbers.resize(tensor_size(lines, k / 2));
    scales.resize(tensor_size(lines, k / kNvfp4Block));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = byte_of(philox, i, stream);
    for (std::size_t i = 0; i < scales.size(); ++i)
        scales[i] = static_cast<std::uint8_t>(kLeastScale + byte_of(philox, i, 2 + stream) % kScales);
}

/// Number k of a line, scaled.
float number_of(const std::vector<std::uint8_t>& numbers, const std::vector<std::uint8_t>& scales, int line,
                int k, int length) {
    const unsigned pair = numbers[tensor_size(line, length / 2) + static_cast<std::size_t>(k / 2)];
    const std::uint8_t scale =
        scales[tensor_size(line, length / kNvfp4Block) + static_cast<std::size_t>(k / kNvfp4Block)];
    return e2m1_value(k % 2 == 0 ? pair & 15 : pair >> 4) * ue4m3_value(scale);
}

}  // namespace

Nvfp4Inputs nvfp4_inputs(const TensorShape& shape) {
    const Philox philox(seed_of(TensorNvfp4::kId));
    Nvfp4Inputs in;
    in.shape = shape;
    draw(philox, 0, shape.m, shape.k, in.a, in.a_scales);
    draw(philox, 1, shape.n, shape.k, in.b, in.b_scales);
    return in;
}

TensorInputs<TensorNvfp4> nvfp4_numbers(const Nvfp4Inputs& in) {
    TensorInputs<TensorNvfp4> numbers;
    numbers.shape = in.shape;
    const int k = in.shape.k;
    for (int row = 0; row < in.shape.m; ++row) {
        for (int depth = 0; depth < k; ++depth)
            numbers.a.push_back(number_of(in.a, in.a_scales, row, depth, k));
    }
    for (int depth = 0; depth < k; ++depth) {
        for (int col = 0; col < in.shape.n; ++col)
            numbers.b.push_back(number_of(in.b, in.b_scales, col, depth, k));
    }
    return numbers;
}

Record nvfp4_check(const TensorInputs<TensorNvfp4>& numbers, const TensorOutputs<TensorNvfp4>& out,
                   const char* backend) {
    // The cores of 12.0 add the products of one instruction in 35 bits and cut the sum to float32 (Xie et
    // al., "MMA-Sim", arXiv 2511.10909, measured): what is left of the eps of float32 is for its nine steps.
    return tensor_check(numbers, out, 1e-3, backend);
}

}  // namespace cudamatrix::suite

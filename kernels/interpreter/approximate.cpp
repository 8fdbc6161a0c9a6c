// Approximations (PTX ISA, "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), computed in double and rounded:
// nearer than the ISA asks for.
#include <cmath>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

template <double (*F)(double)>
void single(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    const bool flush = in.flags != 0;
    each(lanes, [&](int l) {
        const float x = get<float>(from, l);
        const auto result = static_cast<float>(F(static_cast<double>(flush ? flushed(x) : x)));
        put<float>(to, l, canonical(flush ? flushed(result) : result));
    });
}

double inverse_root(double x) {
    return 1.0 / std::sqrt(x);
}

void inverse_root_of_double(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { put<double>(to, l, inverse_root(get<double>(from, l))); });
}

struct ApproximateRow {
    std::string_view name;
    Handler handler;
};
const ApproximateRow kFunctions[] = {
    {"rsqrt", single<inverse_root>}, {"sin", single<std::sin>},  {"cos", single<std::cos>},
    {"lg2", single<std::log2>},      {"ex2", single<std::exp2>}, {"tanh", single<std::tanh>},
};

}  // namespace

void decode_approximate(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (!decoder.take("approx")) decoder.unsupported("expected .approx");
    const bool flush = decoder.take("ftz");
    const Type type = decoder.take_type();
    Instruction in = decoder.make(nullptr);
    for (const ApproximateRow& row : kFunctions) {
        if (row.name == name && type == Type::f32) in.handler = row.handler;
    }
    if (name == "rsqrt" && type == Type::f64 && !flush) in.handler = inverse_root_of_double;
    if (in.handler == nullptr) decoder.unsupported("not for this type");
    in.flags = flush ? 1 : 0;
    decoder.emit(in, 1, type);
}

}  // namespace cudamatrix::suite::ptx

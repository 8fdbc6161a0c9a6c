// Schemas of the tables about the systems that `emit` writes for.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kCiActions[] = {
    {"action", Kind::text, Form::scalar, kRequired},
    {"version", Kind::version, Form::scalar, kRequired},
    {"commit", Kind::text, Form::scalar, kRequired},
};

constexpr Column kCiLimits[] = {
    {"system", Kind::text, Form::scalar, kRequired},
    {"of", Kind::text, Form::scalar, kRequired},
    {"most", Kind::number, Form::scalar, kRequired},
};

constexpr Column kGpuProducts[] = {
    {"product", Kind::text, Form::scalar, kRequired},
    {"gpu", Kind::text, Form::scalar, kRequired, "gpus.name"},
};

constexpr Schema kCiSchemas[] = {
    {"ci_actions", "ci-action-*", kCiActions},
    {"ci_limits", "ci-limit-{system}-{of}", kCiLimits},
    {"gpu_products", "gpu-product-*", kGpuProducts},
};

}  // namespace

std::span<const Schema> ci_schemas() {
    return kCiSchemas;
}

}  // namespace cudamatrix::facts

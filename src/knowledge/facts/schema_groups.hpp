// The schemas by topic, one file each (schema_<topic>.cpp); all_schemas() joins them. Private to src/facts.
#pragma once

#include <span>

#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {

inline constexpr bool kRequired = true;
inline constexpr bool kOptional = false;

[[nodiscard]] std::span<const Schema> build_schemas();
[[nodiscard]] std::span<const Schema> cuda_schemas();
[[nodiscard]] std::span<const Schema> image_schemas();
[[nodiscard]] std::span<const Schema> package_schemas();
[[nodiscard]] std::span<const Schema> system_schemas();
[[nodiscard]] std::span<const Schema> torch_schemas();

}  // namespace cudamatrix::facts

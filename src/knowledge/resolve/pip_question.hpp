// What pip would be asked to find out whether the python packages of a cell can be installed together.
#pragma once

#include <optional>
#include <string>

#include "knowledge/facts/resolution.hpp"
#include "knowledge/resolve/context.hpp"

namespace cudamatrix::rules {

inline constexpr FieldSet kReadByPipQuestion{Field::packages, Field::torch, Field::python, Field::arch,
                                             Field::os,       Field::glibc, Field::image,  Field::family,
                                             Field::flavour,  Field::cuda};

/// Of a cell whose view shows kReadByPipQuestion and its packages as they are written. Nothing where it names
/// no python, no package and no torch, another system than Linux with glibc, a nightly build, the torch of an
/// image of NVIDIA's own, or one that no fact knows. `refused`, where there is one, learns of a value that
/// pip must not or cannot be asked for: one that is no name or version of PEP 503 and 440 (it could be taken
/// for an option), and a build that makers offer on no index (2.8.3+cu12torch2.6).
[[nodiscard]] std::optional<PipQuestion> pip_question(const Context& context, std::string* refused = nullptr);

}  // namespace cudamatrix::rules

// The releases of cuDNN that a cell's `cudnn` may mean, and what is known of each. Shared by rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// What a version as short as "9" stands for: any release that it covers, and itself where it is longer than
/// what a fact writes ("9.10.2.21" for 9.10.2).
[[nodiscard]] bool means(const Version& written, const Version& release);

/// Rows of cudnn_releases of the releases that the cell's cudnn means, oldest first.
[[nodiscard]] std::vector<Row> cudnn_releases(const Context& context);

/// Whether any fact speaks of such a release: rows of it, an image or a build of torch that holds it.
[[nodiscard]] std::optional<FactRef> known_cudnn(const Context& context);

/// A cuDNN that no fact knows, with the nearest that one does.
[[nodiscard]] Unresolved unknown_cudnn(const Context& context);

/// The known releases as a cell writes them, "9.10.2", each once, oldest first.
[[nodiscard]] std::vector<Version> all_cudnn(const Facts& facts);

/// The major of the cell's CUDA; nothing where it names none, or none that a fact knows.
[[nodiscard]] std::optional<std::string> cuda_major(const Context& context);

/// The row of cudnn_cuda that says which releases there are for a major, where none of those that are meant
/// is among them.
[[nodiscard]] std::optional<Row> never_for_cuda(const Context& context, const std::string& major);

/// "cuDNN 9.24 for CUDA 12".
[[nodiscard]] std::string cudnn_text(std::string_view cudnn, std::string_view major);

}  // namespace cudamatrix::rules

// The structure of every kind of file that is rendered: what no value may change.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "render/image/image_plan.hpp"
#include "render/lock/lock_file.hpp"
#include "sanitized.hpp"

/// Instructions and words of a Dockerfile, keys and items of a compose file, words of the lines of the rest;
/// `name` is that of the file or of its template. "BROKEN" where it cannot be read.
std::vector<std::string> structure_of(std::string_view name, const std::string& content);

/// No control character but line ends.
bool is_clean(std::string_view content);

/// A lock with one pin of each kind, so that the pinned parts of the templates are reached.
cudamatrix::Lock pinned_lock(const std::vector<cudamatrix::Image>& images);

// Under the sanitizers a filling takes eight times as long: there each place meets every eighth value,
// another eighth than the place before, so that every place and every value is still tried. Elsewhere, each
// meets each.
#ifdef CUDAMATRIX_SANITIZED
inline constexpr std::size_t kEvery = 8;
#else
inline constexpr std::size_t kEvery = 1;
#endif

// A file on disk as a source of bytes, read piece by piece (private to src/scan).
#pragma once

#include <memory>
#include <string>

#include "base/byte_source.hpp"

namespace cudamatrix::scan {

/// Not mapped: a mapped file would count as memory of this program, page by page. A missing file and what is
/// no regular file are input failures, others of the environment.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

/// All its bytes, in pieces of up to 1 MiB.
[[nodiscard]] Status read_all(ByteSource& source, const ByteSink& sink);

}  // namespace cudamatrix::scan

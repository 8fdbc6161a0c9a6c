// What the libraries of a wheel really hold for GPUs: the whole wheel is read as it comes, nothing is kept.
#pragma once

#include <string>
#include <vector>

#include "base/process.hpp"
#include "look/measure/rows.hpp"
#include "look/measure/wheel_info.hpp"

namespace cudamatrix::measure {

/// Every library of the wheel with kernels, every byte of them searched. The wheel as a whole is read over
/// range requests and its sha256 compared. Failures: those of HttpSource and Zip, another sha256 than
/// `file.sha256`, a library that is damaged, an interrupt. `bytes`: grows by what came over the network.
[[nodiscard]] Result<std::vector<LibraryCode>> library_code(HttpConnection& connection, const IndexFile& file,
                                                            const Cancellation* cancellation,
                                                            std::uint64_t& bytes);

/// Rows of torch_libraries. What a library is for no scan can tell: those become rows that the table knows by
/// name, with the purpose that it gives. `others`: paths of the rest. `wheel`: its row of torch_wheels.
[[nodiscard]] std::vector<MeasuredRow> library_rows(const MeasuredRow& wheel, const WheelInfo& info,
                                                    const Facts& facts, std::vector<std::string>& others);

}  // namespace cudamatrix::measure

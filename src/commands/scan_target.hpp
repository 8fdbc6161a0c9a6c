// What a target of `scan` is, and the scan of it.
#pragma once

#include <string>
#include <vector>

#include "commands/image_options.hpp"
#include "look/scan/local.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix {

/// Options that say how targets are found.
struct TargetOptions {
    std::string index;  ///< of a wheel NAME==VERSION; empty: the one that pip would ask
    std::string ca_bundle;
    std::vector<std::string> mirrors;  ///< FROM=TO, each as it was written
    std::string python;
    std::string arch = "x86_64";
    std::string facts;
    EngineOptions engine;  ///< that has the image of a cell
};

/// A file, folder, wheel or image on this machine, docker:NAME, podman:NAME, an image in a registry, or a
/// wheel on an index.
[[nodiscard]] Result<scan::Scan> scan_target(const std::string& target, const TargetOptions& options,
                                             const scan::Options& how, const World& world);

/// The built image that serves a cell of a matrix, and what the cell says of its machine.
struct CellImage {
    std::string target;  ///< "CELL (cudamatrix/NAME:ID)": for reports
    std::string reference;
    engine::Engine engine;
    std::string gpu, compute, driver;  ///< as the cell has them; empty: not
    bool stale = false;                ///< built from other inputs than the matrix now asks for
};

/// Plans the matrix as `build` does and asks the engine for the image. Input failures: what `load` gives, no
/// such cell, one that gets no image; environment failures: no engine, an image that is not built.
[[nodiscard]] Result<CellImage> cell_image(const std::string& matrix, const std::string& cell,
                                           const TargetOptions& options, const World& world);

[[nodiscard]] Result<scan::Scan> scan_cell(const CellImage& image, const TargetOptions& options,
                                           const scan::Options& how);

}  // namespace cudamatrix

// The Python packages of a cell: what the facts know about their releases, and how a fix changes them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/pep440.hpp"
#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// One package of the cell, or its torch.
struct Package {
    std::string name;  ///< canonical (PEP 503)
    std::string text;  ///< "xformers 0.0.28.post1"
    std::optional<pep440::Version> version;
    std::optional<Row> row;                ///< of package_releases
    Field field = Field::packages;         ///< torch for torch
    std::optional<FactRef> torch_release;  ///< of torch: the row that says the release exists
    bool in_image = false;                 ///< of torch: an image of NVIDIA's own brings it
};

/// What `packages` names, in its order; without those whose release nothing says: `auto`, and an `any` for
/// which pip would find none.
[[nodiscard]] std::vector<Package> packages_of(const Context& context);
/// The cell's torch as pip sees it; nothing for none, and where facts do not resolve it. It has demands of
/// its own (`row`) where it is the build of the index default. That of an image of NVIDIA's own (image_torch,
/// whose fields a rule that asks declares) is there even where the cell names none, without a version where
/// no fact says it.
[[nodiscard]] std::optional<Package> torch_package(const Context& context);
/// Major and minor of the CUDA that the cell's torch is built for ("12.4"), that of an image of NVIDIA's own
/// as its row says it ("13.0.2"); empty where unknown or none.
[[nodiscard]] std::string torch_cuda(const Context& context);

/// A version demand of a package on another: "numpy >=1.17", as it applies in this cell.
struct Demand {
    std::string_view name;
    std::string_view clauses;
    std::string_view text;  ///< the whole fact; lives as long as the facts
    [[nodiscard]] const pep440::Specifiers& specifiers() const;  ///< the clauses, read
};
/// Those demands whose condition (python, arch) the cell meets; one that asks for a python is left out where
/// the cell names none.
[[nodiscard]] std::vector<Demand> demands_of(const Context& context, const Row& release);

/// Known releases of a package that `fits` takes, oldest first; such as were yanked only where it takes no
/// others.
[[nodiscard]] std::vector<PackageRelease> fitting_releases(
    const Facts& facts, std::string_view package, const std::function<bool(const PackageRelease&)>& fits);
[[nodiscard]] bool knows_package(const Facts& facts, std::string_view package);

/// True when `version` is covered by the PEP 440 specifier in `column` of `row`.
[[nodiscard]] bool covers(const Row& row, std::string_view column, const pep440::Version& version);
/// A row of that package whose `versions` cover the release.
[[nodiscard]] bool describes(const Row& row, std::string_view package, const pep440::Version& version);
/// What the version of a package says of another without a point (cudnn86, pt210): 8.6, 2.10; 9 stays 9.
[[nodiscard]] std::string pointed(const std::string& digits);

/// The cell's packages with `name` at `version`, as a fix.
[[nodiscard]] FixOption with_package(const Context& context, std::string_view name, std::string_view version);
/// The cell's packages with several at new versions (added where absent).
[[nodiscard]] FixOption with_packages(const Context& context,
                                      const std::vector<std::pair<std::string, std::string>>& changes);
/// The cell's packages without `name`.
[[nodiscard]] FixOption without_package(const Context& context, std::string_view name);
/// The cell's machine: as it says, or as its GPU does that is in hosts of one kind only; else x86_64.
[[nodiscard]] std::string_view arch_of(const Context& context);

/// Severity "error" or "warning" as a row says it.
[[nodiscard]] Severity severity_in(const Row& row);

/// A triton that `packages` names: triton, or triton-windows, which counts as the triton of the same number.
struct NamedTriton {
    std::string package;
    std::string text;  ///< "triton 3.5.0"
    std::optional<Version> version;
};
[[nodiscard]] std::optional<NamedTriton> named_triton(const Context& context);

/// The triton release that the cell runs, where facts tell.
struct CellTriton {
    Field field = Field::torch;  ///< where it comes from
    std::string text;            ///< "triton 3.4.0", "the triton 3.4.0 of torch 2.8.0+cu128"
    std::optional<Row> row;      ///< of triton_releases
    std::vector<FactRef> facts;
};
/// Nothing where the cell has none: no torch, one before 2.0, a CPU build, or a system or processor for which
/// torch pins none.
[[nodiscard]] std::optional<CellTriton> cell_triton(const Context& context);

}  // namespace cudamatrix::rules

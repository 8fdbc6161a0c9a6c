// Rows of facts made of what wheels say, and what they mean beside the rows that are known.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "look/measure/wheel_info.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

/// A column that is written: text, list or plain (true, false).
struct Cell {
    std::string name;
    std::vector<std::string> values;
    bool is_list = false;
    friend bool operator==(const Cell&, const Cell&) = default;
};

[[nodiscard]] inline Cell scalar(std::string name, std::string value) {
    return {std::move(name), {std::move(value)}, false};
}
[[nodiscard]] inline Cell list(std::string name, std::vector<std::string> values) {
    return {std::move(name), std::move(values), true};
}

struct MeasuredRow {
    std::string table;
    std::string id;
    std::vector<Cell> cells;  ///< without id; source and confidence come last
    [[nodiscard]] const Cell* cell(std::string_view name) const;
};

/// Where torch keeps its own kernels: since 1.5, in 1.8 to 1.12 for newer CUDAs, in 1.0 and 1.1, and in 1.2
/// to 1.4.
inline constexpr std::array<std::string_view, 4> kMainLibraries{"libtorch_cuda.so", "libtorch_cuda_cu.so",
                                                                "libcaffe2_gpu.so", "libtorch.so"};

/// Where a row was read: "wheel:NAME sha256:..."
[[nodiscard]] std::string source_text(const WheelInfo& info);

/// All files of one release, build and processor on the index, and the one that was opened.
struct Release {
    std::string version;  ///< as in the file names: "2.6.0", "2.6.0+cu124"
    std::string arch;     ///< x86_64, aarch64; empty: whichever (packages)
    std::vector<IndexFile> wheels;
    bool sdist = false;
    IndexFile chosen;
    std::vector<IndexFile> elsewhere{};  ///< wheels for other systems than Linux with glibc
};

/// Wheels of torch for Linux by version and processor. Chosen is the wheel that a known row names as its
/// source, else the one of the newest python.
[[nodiscard]] std::vector<Release> torch_releases(const std::vector<IndexFile>& files,
                                                  const std::vector<std::string>& arches, const Facts& facts);
/// Wheels of any package for Linux by version; chosen as above.
[[nodiscard]] std::vector<Release> package_releases(const std::vector<IndexFile>& files,
                                                    std::string_view package, const Facts& facts);

/// torch_wheels, torch_releases where the facts do not know the release or that it has the variant, and
/// pythons that no fact knows. `default_index`: the build of the default index. Failure: values that no row
/// can hold.
[[nodiscard]] Result<std::vector<MeasuredRow>> torch_rows(const Release& release, const WheelInfo& info,
                                                          bool default_index, const Facts& facts);
/// Adds the variants of another build of the same release to its row of torch_releases.
void add_variants(MeasuredRow& into, const MeasuredRow& other);
[[nodiscard]] Result<MeasuredRow> package_row(const Release& release, const WheelInfo& info,
                                              std::string_view package);

/// Why the author took all wheels of a release back (PEP 592), in one line of printable text that may be
/// empty; none where one of them was not, and where there are no wheels.
[[nodiscard]] std::optional<std::string> yanked_because(const Release& release);
/// The known row of package_releases of a release that was taken back since, with the reason, or no longer
/// is.
[[nodiscard]] MeasuredRow yanked_row(const Row& known, const std::optional<std::string>& because);
/// Columns in which two rows of the same id differ, but for where they were read.
[[nodiscard]] std::vector<std::string> differing_columns(const MeasuredRow& a, const MeasuredRow& b);

enum class RowStatus { fresh, filled, confirmed, contradicted };

/// A measured row beside the known one.
struct Compared {
    MeasuredRow row;  ///< with the columns of the known row that were not measured
    RowStatus status = RowStatus::fresh;
    std::vector<std::string> filled;        ///< columns that the known row lacks
    std::vector<std::string> contradicted;  ///< columns in which both differ
};
[[nodiscard]] Compared compare(MeasuredRow row, const Facts& facts);
/// The known row with the columns that were filled, and both sources.
[[nodiscard]] MeasuredRow filled_row(const Compared& compared, const Facts& facts);

/// One line: `  - {id: ..., torch: "2.6.0", ...}`.
[[nodiscard]] std::string yaml_line(const MeasuredRow& row);
/// "cuda: 12.4" of one column, "(none)" where it is absent: for messages.
[[nodiscard]] std::string shown(const MeasuredRow& row, std::string_view column);
[[nodiscard]] std::string shown(const Row& row, std::string_view column);
/// Whole files of an overlay folder: table name -> content.
[[nodiscard]] std::map<std::string, std::string> yaml_tables(const std::vector<MeasuredRow>& rows,
                                                             std::string_view as_of);

// Measured rows as an overlay folder for --facts.

/// Puts the rows into FOLDER/TABLE.yaml; rows that stand there from earlier runs stay, but for those of the
/// same id. Each file is replaced as a whole, and none before all of them are known to be fit to be read by
/// --facts. Gives what is left out because the tables would refuse it (it names a CUDA release that no row
/// knows, say), with the reason. Input failure: a file that stands there is no table.
[[nodiscard]] Result<std::vector<std::string>> write_overlay(const std::filesystem::path& folder,
                                                             std::vector<MeasuredRow> rows,
                                                             std::string_view today,
                                                             const std::filesystem::path& base = {});

// Tags of wheels' names (PEP 425, 513, 599, 600) as the facts say them.

/// The processor of a wheel for Linux with glibc, "any" for one that runs everywhere; empty: another system.
[[nodiscard]] std::string linux_arch(const WheelName& name);

/// "3.12", "3.13t": CPythons with a wheel, in their order, each once.
[[nodiscard]] std::vector<std::string> pythons_of(const std::vector<IndexFile>& wheels);

/// "py3", "cp312", "cp313t", "cp39-abi3" of the wheels for `arch`, in their order, each once.
[[nodiscard]] std::vector<std::string> abis_of(const std::vector<IndexFile>& wheels, std::string_view arch);

/// "linux" (with glibc), "macos", "musl", "windows": the systems that one of the wheels is for, sorted; all
/// of them where one is for any.
[[nodiscard]] std::vector<std::string> systems_of(const std::vector<IndexFile>& wheels);
/// The tags as above of the wheels for a system, of whichever processor.
[[nodiscard]] std::vector<std::string> abis_on(const std::vector<IndexFile>& wheels, std::string_view system);

/// "2.28": the lowest glibc that the platform tags of the file name ask for; empty where they name none
/// that can be relied on.
[[nodiscard]] std::string glibc_of(std::string_view file, const Facts& facts);

/// "3.13" of "3.13t".
[[nodiscard]] std::string without_suffix(std::string_view python);

}  // namespace cudamatrix::measure

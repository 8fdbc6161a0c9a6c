// What the rules of the build stage share: host compilers, ranges of versions and lists of architectures.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.hpp"
#include "fatbin/arch.hpp"
#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

struct HostCompiler {
    std::string_view name;  ///< gcc, clang
    Version version;        ///< as far as the cell writes it: 11, 11.4, 11.4.0
};
/// "gcc-11.4"; nothing for other compilers, which compiler-supported-by-cuda calls unknown.
[[nodiscard]] std::optional<HostCompiler> host_compiler(std::string_view text);

/// How much of what a written version may stand for (11 is every 11.x) lies in a range; `last` includes all
/// that it covers.
enum class Part { none, some, all };
[[nodiscard]] Part part_within(const Version& written, const Version& first, const Version& last);
/// The same for two columns of a row whose schema requires them.
[[nodiscard]] Part part_within(const Version& written, const Row& row, std::string_view first,
                               std::string_view last);

/// Does the cell say that something is compiled in the image: a compiler, an architecture list, interfaces
/// that code uses, or a devel image? A rule that asks declares these four fields.
[[nodiscard]] bool says_it_builds(const ProjectedCell& cell);
/// Does it say that there is a compiler: it names one, or a devel flavour or image? A rule that asks declares
/// these three fields.
[[nodiscard]] bool has_compilers(const ProjectedCell& cell);
/// Is it one whose image render writes, with wheels and nothing built from source: does it name a family or
/// a flavour, and no whole image? A rule that asks declares these three fields.
[[nodiscard]] bool gets_image(const ProjectedCell& cell);
inline constexpr std::string_view kWheelsOnly =
    "pip would build it from its source, and the images of a family get wheels only";
/// What a finding adds about a build from source, where the cell could get such an image.
inline constexpr std::string_view kRenderRefuses = "; render and lock refuse it, as images get wheels only";
/// Does it say the opposite, by an image without a compiler?
[[nodiscard]] bool says_it_does_not_build(const Context& context);
/// Is something compiled for the cell? It says so, or it is a toolkit without torch, whose use that is.
[[nodiscard]] bool compiles(const ProjectedCell& cell);
inline constexpr FieldSet kReadByCompiles{Field::compiler, Field::arch_list, Field::uses, Field::flavour,
                                          Field::image,    Field::cuda,      Field::torch};
/// Does it say, by `uses`, that its code reaches the GPU as PTX only?
[[nodiscard]] bool is_ptx_only(const Context& context);

/// One entry of a TORCH_CUDA_ARCH_LIST.
struct ArchEntry {
    std::string text;  ///< "8.6+PTX", names spelt out; kept where it is no capability
    std::optional<fatbin::Arch> arch;
    bool ptx = false;
};
/// The entries of `list`, names replaced as torch does it, by the texts "Ampere=8.0;8.6+PTX" in `named`.
[[nodiscard]] std::vector<ArchEntry> arch_entries(std::string_view list, facts::Values named);
[[nodiscard]] bool has_names(std::string_view list);

/// The list of architectures that a build in the cell's image goes by: the variable of torch's build helper
/// where `env` sets it, for that is what the build sees, else the field `arch_list`.
struct ArchList {
    Field field = Field::arch_list;  ///< arch_list or env
    std::string text;                ///< "8.6;8.9+PTX"
    /// "arch_list 8.6;8.9+PTX", "TORCH_CUDA_ARCH_LIST 8.6;8.9+PTX"
    [[nodiscard]] std::string named() const;
};
/// A rule that asks declares arch_list and env.
[[nodiscard]] std::optional<ArchList> arch_list(const Context& context);
/// The cell with another list at the same place, as a fix.
[[nodiscard]] FixOption with_arch_list(const Context& context, const ArchList& list, std::string_view text);

/// What the entries of a list make for a device.
struct ArchCover {
    bool sass = false;
    std::string ptx;  ///< the entry whose PTX the driver can compile
};
[[nodiscard]] ArchCover cover(const std::vector<ArchEntry>& entries, const fatbin::Arch& device);

/// The cell with the GPU's own capability at the end of the list, as a fix.
[[nodiscard]] FixOption with_gpu_in_list(const Context& context, const ArchList& list, const Device& gpu);

/// Code built with a list that reaches the cell's GPU only as the PTX of one of its entries.
struct ListedPtx {
    ArchList list;
    Device gpu;
    std::vector<FactRef> facts;
};
/// Nothing where the list has machine code for the GPU or nothing at all, and where a fact is missing:
/// arch-list-covers-gpu says so. A rule that asks declares arch_list, env, torch, arch, gpu and compute.
[[nodiscard]] std::optional<ListedPtx> ptx_only_list(const Context& context);

/// What the names in such lists stand for (column `named`): the row of the cell's torch, which says it.
[[nodiscard]] std::optional<Row> torch_names(const Context& context);

/// Row of what a torch release demands of extensions (`torch_extensions`), or of torch.compile
/// (`torch_compile`).
[[nodiscard]] std::optional<Row> extension_row(const Facts& facts, std::string_view torch);
[[nodiscard]] std::optional<Row> compile_row(const Facts& facts, std::string_view torch);
/// A release before the first that the facts describe has no torch.compile.
[[nodiscard]] bool before_compile(const Facts& facts, const Version& torch);

}  // namespace cudamatrix::rules

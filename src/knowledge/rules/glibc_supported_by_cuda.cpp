// Newer C libraries declare functions that the toolkit's headers declare otherwise.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

struct Library {
    Version version;
    std::string text;  ///< "glibc 2.41 of debian13"
    std::vector<FactRef> facts;
};

// The C library of the image: `glibc` where it is written, else that of the system.
std::optional<Library> library(const Context& context) {
    if (context.cell.has(Field::glibc)) {
        const auto text = context.cell.text(Field::glibc);
        const auto version = Version::parse(text);
        if (!version) return std::nullopt;
        return Library{*version, fmt::format("glibc {}", text), {}};
    }
    const auto os = lookup::os(context.facts, context.cell.text(Field::os));
    const auto version = os ? Version::parse(os->text("glibc")) : std::nullopt;
    if (!version) return std::nullopt;
    return Library{
        *version, fmt::format("glibc {} of {}", version->text(), context.cell.text(Field::os)), {os->ref()}};
}

std::string_view arch_of(const Context& context) {
    return context.cell.has(Field::arch) ? context.cell.text(Field::arch) : "x86_64";
}

// A row of the processor is stricter than the one of all processors.
std::optional<Row> limits(const Context& context, const Version& cuda, std::string_view arch) {
    std::optional<Row> of_all;
    for (const auto& row : context.facts.rows("cuda_glibc")) {
        if (part_within(cuda, row, "cuda_first", "cuda_last") != Part::all) continue;
        if (row.has("arch") && row.text("arch") == arch) return row;
        if (!row.has("arch")) of_all = row;
    }
    return of_all;
}

std::optional<Row> limits(const Context& context, const Version& cuda) {
    return limits(context, cuda, arch_of(context));
}

// The release of a distribution's own toolkit that was seen to compile with its own C library.
bool is_mended(const Context& context, const Row& row, const Version& cuda) {
    return !context.cell.has(Field::glibc) && row.has("works_on") &&
           row.text("works_on") == context.cell.text(Field::os) && row.text("works_cuda") == cuda.text();
}

// Nothing in the cell says where the toolkit comes from.
bool from_anywhere(const Context& context) {
    return !context.cell.has(Field::family) && !context.cell.has(Field::cuda_from) &&
           !context.cell.has(Field::image);
}

// Only the distribution's package is mended: NVIDIA's own of the same release is not.
bool works_there(const Context& context, const Row& row, const Version& cuda) {
    if (!is_mended(context, row, cuda) || context.cell.has(Field::image)) return false;
    const auto from = context.cell.text(Field::cuda_from);
    if (!from.empty()) return from == "archive";
    return lookup::toolkit_source(context.facts, context.cell.text(Field::family),
                                  context.cell.text(Field::os), cuda, "archive")
        .has_value();
}

bool too_new(const Row& row, const Version& glibc) {
    const auto most = Version::parse(row.text("glibc_max"));
    return most && glibc > *most;
}

bool too_old(const Row& row, const Version& glibc) {
    const auto least = Version::parse(row.text("glibc_min"));
    return least && glibc < *least;
}

// nvcc itself runs there: what uses the library is what fails.
Finding old_library(const Context& context, const Row& row, const Version& cuda, const Library& glibc,
                    Field field, std::vector<FactRef> facts) {
    auto warning = finding(
        Severity::warning, kStage, "library", {field, Field::cuda},
        fmt::format("{} of CUDA {} asks for glibc {}: with {} programs that use it neither link nor load",
                    row.text("library"), cuda.text(), row.text("glibc_min"), glibc.text),
        std::move(facts));
    warning.fixes = cuda_options(context, cuda, [&](const Version& other) {
        const auto limit = limits(context, other);
        return limit && !too_new(*limit, glibc.version) && !too_old(*limit, glibc.version);
    });
    if (field == Field::glibc) warning.fixes.push_back(set_to(Field::glibc, row.text("glibc_min")));
    return warning;
}

std::string refusal(const Context& context, const Row& row, const Version& cuda, const Library& glibc) {
    if (row.has("arch")) {
        return fmt::format(
            "nvcc of CUDA {} does not compile on {} with {}: its bits/math-vector.h names types "
            "that this nvcc does not know, {} among them; glibc {} is the newest that works",
            cuda.text(), arch_of(context), glibc.text, row.text("type"), row.text("glibc_max"));
    }
    return fmt::format(
        "the headers of CUDA {} do not compile with {}: both declare {}, one with noexcept; glibc {} is the "
        "newest that works",
        cuda.text(), glibc.text, row.text("function"), row.text("glibc_max"));
}

// The distribution's own toolkit was seen to compile, on another processor.
bool seen_elsewhere(const Context& context, const Row& row, const Version& cuda) {
    const auto of_all = row.has("arch") ? limits(context, cuda, {}) : std::nullopt;
    return of_all && is_mended(context, *of_all, cuda);
}

void judge(const Context& context, Findings& out) {
    if (says_it_does_not_build(context)) return;
    if (other_os(context)) return;  // has no glibc
    const auto toolkit = image_cuda(context);
    const Field field = context.cell.has(Field::glibc) ? Field::glibc : Field::os;
    const std::vector<Field> about{field, Field::cuda};
    const auto question = fmt::format("whether the headers of CUDA {} compile with its C library",
                                      context.cell.text(Field::cuda));
    const auto glibc = library(context);
    if (!glibc) {
        const Unresolved gap{
            field, fmt::format("no fact gives the glibc of {}", context.cell.text(field)), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    if (const auto* gap = std::get_if<Unresolved>(&toolkit)) {
        out.push_back(unknown(kStage, "", about, *gap, question));
        return;
    }
    const auto& cuda = std::get<lookup::Cuda>(toolkit).exact;
    const auto row = limits(context, cuda);
    if (!row) {
        const Unresolved gap{
            Field::cuda, fmt::format("no fact gives the newest glibc of CUDA {}", cuda.text()), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    auto facts = glibc->facts;
    facts.push_back(row->ref());
    if (too_old(*row, glibc->version)) {
        out.push_back(old_library(context, *row, cuda, *glibc, field, std::move(facts)));
        return;
    }
    if (!too_new(*row, glibc->version) || works_there(context, *row, cuda)) {
        accept(context, out, kStage, "", about, question, std::move(facts));
        return;
    }
    // What is rendered without a family takes the archive's.
    if (is_mended(context, *row, cuda) && from_anywhere(context)) {
        out.push_back(finding(Severity::note, kStage, "", about,
                              fmt::format("CUDA {} compiles with {} where it is the archive's own, which is "
                                          "mended for it; NVIDIA's is not, and neither family nor cuda_from "
                                          "says which it is",
                                          cuda.text(), glibc->text),
                              std::move(facts)));
        return;
    }
    auto about_arch = about;
    if (row->has("arch") && context.cell.has(Field::arch)) about_arch.push_back(Field::arch);
    if (seen_elsewhere(context, *row, cuda)) {
        const Unresolved gap{field,
                             fmt::format("no fact says whether the toolkit of {} compiles on {}",
                                         context.cell.text(Field::os), arch_of(context)),
                             {}};
        out.push_back(unknown(kStage, "", about_arch, gap, question));
        out.back().facts = std::move(facts);
        return;
    }
    auto error = finding(Severity::error, kStage, "", about_arch, refusal(context, *row, cuda, *glibc),
                         std::move(facts));
    error.fixes = cuda_options(context, cuda, [&](const Version& other) {
        const auto limit = limits(context, other);
        return limit && (!too_new(*limit, glibc->version) || works_there(context, *limit, other));
    });
    if (field == Field::glibc) error.fixes.push_back(set_to(Field::glibc, row->text("glibc_max")));
    out.push_back(std::move(error));
}

}  // namespace

Rule glibc_supported_by_cuda() {
    return {
        .id = "glibc-supported-by-cuda",
        .stage = kStage,
        .summary =
            "The toolkit's headers compile with the image's C library, and its libraries load with it.",
        .why =
            "glibc 2.41 and 2.42 declare functions that CUDA had declared before (cospi, sinpi, "
            "rsqrt), with noexcept; headers of older toolkits do not, and nvcc stops at the first "
            "file: \"exception specification is incompatible with that of previous function\". On aarch64 "
            "the header of glibc 2.38 uses types of the host compiler that nvcc knows from 12.5 on. "
            "Libraries "
            "of newer toolkits ask for glibc 2.27, which CentOS 7 does not have. An image that only runs "
            "code "
            "is not touched.",
        .fails = "cuda: 12.8.1, glibc: \"2.41\"",
        .passes = "cuda: 13.0.2, glibc: \"2.41\"",
        .reads = {Field::glibc, Field::os, Field::cuda, Field::flavour, Field::arch, Field::family,
                  Field::cuda_from, Field::image},
        .needs = {{Field::glibc, Field::os}, {Field::cuda}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules

// Newer C libraries declare functions that the toolkit's headers declare otherwise.
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

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
bool is_patched(const Context& context, const Row& row, const Version& cuda) {
    return !context.cell.has(Field::glibc) && row.has("works_on") &&
           row.text("works_on") == context.cell.text(Field::os) && row.text("works_cuda") == cuda.text();
}

// Nothing in the cell says where the toolkit comes from.
bool from_anywhere(const Context& context) {
    return !context.cell.has(Field::family) && !context.cell.has(Field::cuda_from) &&
           !context.cell.has(Field::image);
}

// Only the distribution's package has the patch, NVIDIA's own of the same release does not.
bool works_there(const Context& context, const Row& row, const Version& cuda) {
    if (!is_patched(context, row, cuda) || context.cell.has(Field::image)) return false;
    const auto from = context.cell.text(Field::cuda_from);
    if (!from.empty()) return from == "archive";
    return lookup::toolkit_source(context.facts, context.cell.text(Field::family),
                                  context.cell.text(Field::os), cuda, "archive")
        .has_value();
}

bool glibc_too_new(const Row& row, const Version& glibc) {
    const auto most = Version::parse(row.text("glibc_max"));
    return most && glibc > *most;
}

bool glibc_too_old(const Row& row, const Version& glibc) {
    const auto least = Version::parse(row.text("glibc_min"));
    return least && glibc < *least;
}

// nvcc itself runs there: what uses the library is what fails.
void reject_old_library(Ask& ask, const Row& row, const Version& cuda, const Library& glibc,
                        const std::vector<FactRef>& facts) {
    ask.question(ask.about(), ask.text(), "library");
    auto answer =
        ask.degrade("{} of CUDA {} asks for glibc {}: with {} programs that use it neither link nor load",
                    row.text("library"), cuda.text(), row.text("glibc_min"), glibc.text);
    answer.because(facts).other(Field::cuda);
    if (ask.about().front() == Field::glibc) answer.fix(Field::glibc, row.text("glibc_min"));
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
    return of_all && is_patched(context, *of_all, cuda);
}

// The headers declare what the C library declares otherwise.
void reject_new_library(Ask& ask, const Row& row, const Version& cuda, const Library& glibc,
                        const std::vector<FactRef>& facts) {
    const auto field = ask.about().front();
    auto about = ask.about();
    if (row.has("arch") && ask.cell.has(Field::arch)) about.push_back(Field::arch);
    ask.question(std::move(about), ask.text());
    if (seen_elsewhere(ask, row, cuda)) {
        ask.unknown(field, "no fact says whether the toolkit of {} compiles on {}", ask.cell.text(Field::os),
                    arch_of(ask))
            .because(facts);
        return;
    }
    auto answer = ask.say(Severity::error, refusal(ask, row, cuda, glibc));
    answer.because(facts).other(Field::cuda);
    if (field == Field::glibc) answer.fix(Field::glibc, row.text("glibc_max"));
}

void judge_glibc_supported_by_cuda(Ask& ask) {
    if (says_it_does_not_build(ask)) return;
    if (other_os(ask)) return;  // has no glibc
    const Field field = ask.cell.has(Field::glibc) ? Field::glibc : Field::os;
    ask.question(
        {field, Field::cuda},
        fmt::format("whether the headers of CUDA {} compile with its C library", ask.cell.text(Field::cuda)));
    const auto glibc = library(ask);
    if (!glibc) {
        ask.unknown(field, "no fact gives the glibc of {}", ask.cell.text(field));
        return;
    }
    const auto toolkit = ask.cuda();
    if (!toolkit) return;
    const auto& cuda = toolkit->exact;
    const auto row = limits(ask, cuda);
    if (!row) {
        ask.unknown(Field::cuda, "no fact gives the newest glibc of CUDA {}", cuda.text());
        return;
    }
    auto facts = glibc->facts;
    facts.push_back(row->ref());
    if (glibc_too_old(*row, glibc->version)) {
        reject_old_library(ask, *row, cuda, *glibc, facts);
    } else if (!glibc_too_new(*row, glibc->version) || works_there(ask, *row, cuda)) {
        ask.affirm("the headers of CUDA {} compile with {}", cuda.text(), glibc->text);
        ask.accept(std::move(facts));
    } else if (is_patched(ask, *row, cuda) && from_anywhere(ask)) {
        // What is rendered without a family takes the archive's.
        ask.note(
               "CUDA {} compiles with {} where it is the archive's own, which is patched for it; NVIDIA's is "
               "not, and neither family nor cuda_from says which it is",
               cuda.text(), glibc->text)
            .because(facts);
    } else {
        reject_new_library(ask, *row, cuda, *glibc, facts);
    }
}

}  // namespace

Rule glibc_supported_by_cuda() {
    return {
        .id = "glibc-supported-by-cuda",
        .stage = Stage::build,
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
        .judge = judge_glibc_supported_by_cuda};
}

}  // namespace cudamatrix::rules

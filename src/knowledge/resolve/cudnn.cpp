#include "knowledge/resolve/cudnn.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

Version wanted(const Context& context) {
    return *Version::parse(context.cell.text(Field::cudnn));  // the field takes nothing else
}

}  // namespace

bool means(const Version& written, const Version& release) {
    return written.covers(release) || release.covers(written);
}

std::vector<Row> cudnn_releases(const Context& context) {
    const auto cudnn = wanted(context);
    std::vector<Row> out;
    for (const auto& row : context.facts.rows("cudnn_releases")) {
        if (means(cudnn, lookup::required_version(row, "cudnn"))) out.push_back(row);
    }
    std::stable_sort(out.begin(), out.end(), [](const Row& a, const Row& b) {
        return lookup::required_version(a, "cudnn") < lookup::required_version(b, "cudnn");
    });
    return out;
}

std::optional<FactRef> known_cudnn(const Context& context) {
    const auto cudnn = wanted(context);
    for (const auto* table : {"cudnn_releases", "cuda_images", "torch_wheels"}) {
        for (const auto& row : context.facts.rows(table)) {
            const auto version = Version::parse(row.text("cudnn"));
            if (version && version->size() > 1 && means(cudnn, *version)) return row.ref();
        }
    }
    return std::nullopt;
}

std::vector<Version> all_cudnn(const Facts& facts) {
    std::vector<Version> out;
    for (const auto& row : facts.rows("cudnn_releases")) {
        const auto version = lookup::required_version(row, "cudnn");
        const auto text = fmt::format("{}.{}", version.major_minor(), version.part(2));
        out.push_back(version.size() < 3 ? version : *Version::parse(text));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

Unresolved unknown_cudnn(const Context& context) {
    const auto text = context.cell.text(Field::cudnn);
    const auto cudnn = wanted(context);
    const auto releases = all_cudnn(context.facts);
    auto near = releases.front();
    for (const auto& release : releases) {
        if (release < cudnn) near = release;
    }
    return {Field::cudnn,
            fmt::format("no fact knows cudnn {} (the nearest that is known is {})", text, near.text()),
            {set_to(Field::cudnn, near.text())}};
}

std::optional<std::string> cuda_major(const Context& context) {
    if (!context.cell.has(Field::cuda)) return std::nullopt;
    const auto cuda = if_known(image_cuda(context));
    return cuda ? std::optional(std::to_string(cuda->exact.major())) : std::nullopt;
}

std::optional<Row> never_for_cuda(const Context& context, const std::string& major) {
    const auto row = context.facts.row("cudnn-cuda-" + major);
    if (!row) return std::nullopt;
    const auto cudnn = wanted(context);
    const auto first = Version::parse(row->text("first")), last = Version::parse(row->text("last"));
    const bool before = first && cudnn < *first && !means(cudnn, *first);
    const bool behind = last && cudnn > *last && !means(cudnn, *last);
    return before || behind ? row : std::nullopt;
}

std::string cudnn_text(std::string_view cudnn, std::string_view major) {
    return fmt::format("cuDNN {}{}{}", cudnn, major.empty() ? "" : " for CUDA ", major);
}

}  // namespace cudamatrix::rules

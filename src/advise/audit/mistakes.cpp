#include <algorithm>
#include <array>

#include "advise/audit/parts.hpp"
#include "base/text.hpp"

namespace cudamatrix::audit {
namespace {

constexpr std::array kMistakes{
    Mistake{"stage-unused", Severity::warning, "Nothing uses the stage of a FROM: images do not add up",
            "https://docs.docker.com/build/building/multi-stage/"},
    Mistake{"find-links-as-index", Severity::error, "A page of links is given as an index",
            "https://github.com/pytorch/pytorch/issues/39779"},
    Mistake{"index-as-find-links", Severity::warning, "An index is given as a page of links",
            "https://github.com/Lightning-AI/torchmetrics/issues/2076"},
    Mistake{"unquoted-requirement", Severity::error,
            "The shell takes the version of a requirement for a file",
            "https://www.gnu.org/software/bash/manual/html_node/Redirections.html"},
    Mistake{"pip-of-other-python", Severity::warning,
            "torch is installed for another python than the one that the image starts",
            "https://docs.python.org/3/installing/index.html"},
    Mistake{"torch-from-any-index", Severity::warning, "torch without a version, from several indexes",
            "https://github.com/deepmodeling/deepmd-kit/pull/3198"},
    Mistake{"jetson-cpu-torch", Severity::error, "torch of the Python index in an image for Jetson",
            "https://forums.developer.nvidia.com/t/pytorch-for-jetson-version-1-9-0-now-available/72048"},
    Mistake{"requirement-replaces-torch", Severity::warning,
            "A later install replaces the torch of an earlier one",
            "https://github.com/graphistry/pygraphistry/pull/971"},
};

bool is_page(std::string_view url) {
    url = url.substr(0, url.find_first_of("?#"));
    return url.ends_with(".html");
}

}  // namespace

std::span<const Mistake> mistakes() {
    return kMistakes;
}

Finding found(std::string_view id, const Location& where, std::string message, std::string fix) {
    const auto mistake = std::ranges::find(kMistakes, id, &Mistake::id);
    return {mistake->id, mistake->severity, where, std::move(message), std::move(fix)};
}

void find_wrong_indexes(const std::vector<sources::Index>& indexes, std::vector<Finding>& out) {
    for (const auto& [kind, url, where] : indexes) {
        const bool links = kind == sources::IndexKind::find_links;
        if (!links && is_page(url)) {
            out.push_back(found(
                "find-links-as-index", where,
                fmt::format(
                    "{} is a page of links, not an index: pip asks below it for each package and finds none",
                    text::printable(url)),
                "--find-links " + text::printable(url)));
        } else if (links && !is_page(url) && url.find("/whl/") != std::string::npos &&
                   !variant_of_index(url).empty()) {
            out.push_back(found(
                "index-as-find-links", where,
                fmt::format(
                    "{} is an index, not a page of links: pip finds no wheel on it, and takes the default index",
                    text::printable(url)),
                "--index-url " + text::printable(url)));
        }
    }
}

void find_unused_stages(const sources::Source& source, const Facts& facts, std::vector<Finding>& out) {
    const auto& stages = source.stages;
    const auto is_used = [&](std::size_t index) {
        return std::ranges::any_of(stages, [&](const sources::Stage& stage) {
            const bool copies = std::ranges::any_of(stage.steps, [&](const sources::Step& step) {
                const auto* copy = std::get_if<sources::CopyFrom>(&step);
                return copy != nullptr &&
                       (stage_named(source, copy->stage, stages.size()) == index || is_open(copy->stage));
            });
            return stage.on == index || copies;
        });
    };
    const auto about_gpu = [&](const sources::Stage& stage) {
        return !stage.base.is_open() && base_image(stage.base.text, facts).cuda;
    };
    if (stages.size() < 2 || !std::ranges::any_of(stages, about_gpu)) return;
    for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
        if (!stages[i].name.empty() || is_used(i) || stages[i].base.text.empty() || stages[i].base.is_open())
            continue;
        out.push_back(
            found("stage-unused", stages[i].base.where,
                  fmt::format("nothing of {} is in the image: each FROM begins anew, and the last one counts",
                              text::printable(stages[i].base.text)),
                  "keep one FROM, or name this stage and copy from it"));
    }
}

}  // namespace cudamatrix::audit

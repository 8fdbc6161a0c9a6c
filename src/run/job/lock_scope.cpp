#include "run/job/lock_scope.hpp"

#include <algorithm>

#include "base/image_reference.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {

LockScope LockScope::everything() {
    LockScope scope;
    scope.references_ = scope.bases_ = scope.apt_ = scope.wheels_ = true;
    return scope;
}

Result<LockScope> LockScope::of(const std::vector<std::string>& words, const std::vector<Image>& images) {
    if (words.empty()) return everything();
    const std::pair<std::string_view, bool LockScope::*> kinds[] = {{"images", &LockScope::references_},
                                                                    {"bases", &LockScope::bases_},
                                                                    {"apt", &LockScope::apt_},
                                                                    {"wheels", &LockScope::wheels_}};
    std::vector<std::string> names;
    for (const auto& [name, member] : kinds)
        names.emplace_back(name);
    for (const auto& image : images) {
        names.push_back(image.id);
        for (auto& reference : image.references())
            names.push_back(std::move(reference));
    }
    LockScope scope;
    for (const auto& word : words) {
        const auto* const kind = std::find_if(std::begin(kinds), std::end(kinds),
                                              [&](const auto& one) { return one.first == word; });
        const auto reference = parse_image_reference(word);
        const auto is_name = [&](const std::string& name) {
            return std::count(names.begin(), names.end(), name) > 0;
        };
        if (kind != std::end(kinds)) {
            scope.*(kind->second) = true;
        } else if (is_name(word)) {
            scope.named_.insert(word);
        } else if (reference.ok() && is_name(reference->text())) {
            scope.named_.insert(reference->text());
        } else {
            const auto near = text::did_you_mean(word, names);
            return input_failure(
                fmt::format(
                    "--update {}: it is none of images, bases, apt and wheels, no image of this matrix and "
                    "no base of one",
                    text::printable(word)),
                near ? fmt::format("did you mean {}?", *near) : "cudamatrix list --images names them");
        }
    }
    return scope;
}

}  // namespace cudamatrix::job

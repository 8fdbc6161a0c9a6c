#include "knowledge/resolve/candidates.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/cudnn.hpp"
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

using Group = std::vector<FixOption>;

// --- cuda, python, driver

struct Around {
    Group newer, older;  ///< nearest first
};

// By minor; of each the newest update. Beside no CUDA, or one that no fact knows, all are older: newest
// first.
Around other_cuda(const Context& context, const std::string& note) {
    const auto present = lookup::cuda(context.facts, context.cell.text(Field::cuda));
    std::vector<Version> newer, older;
    for (const auto& row : context.facts.rows("cuda_releases")) {  // sorted
        const auto version = lookup::required_version(row, "cuda");
        if (present && version == present->exact) continue;
        (present && version > present->exact ? newer : older).push_back(version);
    }
    std::stable_sort(newer.begin(), newer.end(), [](const Version& a, const Version& b) {
        const auto x = Version::parse(a.major_minor()), y = Version::parse(b.major_minor());
        return *x != *y ? *x < *y : a > b;
    });
    std::reverse(older.begin(), older.end());
    const auto group = [&](const std::vector<Version>& versions) {
        Group out;
        for (const auto& version : versions)
            out.push_back(set_to(Field::cuda, version.text(),
                                 fmt::format("cuda {}{}{}", version.text(), note.empty() ? "" : " ", note)));
        return out;
    };
    return {group(newer), group(older)};
}

// The same minor is a newer one: 3.13 in the place of 3.13t.
Around other_python(const Context& context) {
    const auto present = Version::parse(context.cell.text(Field::python));
    if (!present || present->size() < 2) return {};
    const auto minor = *Version::parse(present->major_minor());
    Around out;
    for (const auto& row : context.facts.rows("pythons")) {  // sorted
        const auto version = lookup::required_version(row, "python");
        (version < minor ? out.older : out.newer).push_back(set_to(Field::python, version.text()));
    }
    std::reverse(out.older.begin(), out.older.end());
    return out;
}

// Beside no cuDNN all are older. A short one that stands for releases of both sides is none of them.
Around other_cudnn(const Context& context) {
    const auto present = Version::parse(context.cell.text(Field::cudnn));
    Around out;
    for (const auto& release : all_cudnn(context.facts)) {
        if (present && means(*present, release) && present->size() >= release.size()) continue;
        (present && release > *present && !means(*present, release) ? out.newer : out.older)
            .push_back(set_to(Field::cudnn, release.text()));
    }
    std::reverse(out.older.begin(), out.older.end());
    return out;
}

// The newest release of each branch; on Windows, where no fact lists them, the branch.
Around other_driver(const Context& context) {
    const auto present = if_known(host_driver(context));
    if (!present) return {};
    Around out;
    for (const auto& row : context.facts.rows("driver_branches")) {  // sorted
        if (!row.has("newest") || row.id() == present->branch->id()) continue;
        const bool is_newer = lookup::required_version(row, "branch") > present->exact;
        (is_newer ? out.newer : out.older)
            .push_back(set_to(Field::driver, row.text(windows_driver(context) ? "branch" : "newest")));
    }
    std::reverse(out.older.begin(), out.older.end());
    return out;
}

// The oldest release of each branch, on Windows those that came with a CUDA, then the branches.
Candidates newer_driver(const Context& context) {
    const auto present = Version::parse(context.cell.text(Field::driver));
    if (!present) return {};
    const auto group = [&](std::string_view table, std::string_view column) {
        std::vector<Version> versions;
        for (const auto& row : context.facts.rows(table)) {
            const auto version = Version::parse(row.text(column));
            if (version && *version > *present) versions.push_back(*version);
        }
        std::sort(versions.begin(), versions.end());
        Group out;
        for (const auto& version : versions)
            out.push_back(set_to(Field::driver, version.text(), "driver >= " + version.text()));
        return out;
    };
    if (!windows_driver(context)) return {{group("driver_branches", "oldest")}};
    return {{group("cuda_releases", "bundled_driver_windows")}, {group("driver_branches", "branch")}};
}

// --- os

std::string_view distribution(const Row& os) {
    return os.text("name").substr(0, os.text("name").rfind(' '));
}

Candidates other_system(const Context& context) {
    const auto present = lookup::os(context.facts, context.cell.text(Field::os));
    std::vector<Row> next, images;
    bool behind = false;
    for (const auto& row : context.facts.rows("operating_systems")) {  // sorted
        if (present && row.id() == present->id()) {
            behind = true;
        } else {
            if (behind && distribution(row) == distribution(*present)) next.push_back(row);
            if (row.has("package_manager")) images.push_back(row);
        }
    }
    std::stable_sort(images.begin(), images.end(), [](const Row& a, const Row& b) {
        const auto end = [](const Row& row) { return row.text(row.has("lts_eol") ? "lts_eol" : "eol"); };
        return end(a) > end(b);
    });
    std::stable_partition(next.begin(), next.end(),
                          [](const Row& row) { return row.has("package_manager"); });
    const auto group = [](const std::vector<Row>& rows) {
        Group out;
        for (const auto& row : rows)
            out.push_back(set_to(Field::os, row.text("os")));
        return out;
    };
    return {{group(next)}, {group(images)}};
}

// --- packages

Candidates other_release(const Context& context, const std::string& package) {
    std::optional<pep440::Version> present;
    for (const auto& [name, version] : context.cell.value(Field::packages)->items) {
        if (pep440::canonical_name(name) == package) present = pep440::Version::parse(version);
    }
    const auto releases = context.facts.package_releases(package);
    Candidates out;
    for (const bool yanked : {false, true}) {
        Around around;
        for (const auto& release : releases) {  // sorted
            if (lookup::is_yanked(release.row) != yanked || (present && release.version == *present))
                continue;
            (present && release.version < *present ? around.older : around.newer)
                .push_back(with_package(context, package, release.version.text()));
        }
        std::reverse(around.older.begin(), around.older.end());
        out.push_back({std::move(around.newer)});
        out.push_back({std::move(around.older)});
    }
    return out;
}

// --- images

Candidates cuda_images(const Facts& facts, const CudaImage& image, bool newest_first) {
    auto near = near_cuda_tags(facts, image.tag);
    if (newest_first) {
        // On the same distribution, in the same flavour: they stand before all others there.
        const auto is_alike = [&](const CudaTag& tag) {
            return tag.os == image.tag.os && tag.kind() == image.tag.kind() &&
                   tag.has_cudnn() == image.tag.has_cudnn();
        };
        std::erase_if(near.on_os, [&](const CudaTag& tag) { return !is_alike(tag); });
        std::stable_sort(near.on_os.begin(), near.on_os.end(), [](const CudaTag& a, const CudaTag& b) {
            return *Version::parse(a.cuda) > *Version::parse(b.cuda);
        });
        near.on_line.clear();
    }
    std::vector<Group> groups;
    for (const auto* tags : {&near.on_line, &near.on_os}) {
        auto& group = groups.emplace_back();
        for (const auto& tag : *tags) {
            auto option = set_to_tag(image, tag);
            if (option.set.empty()) break;  // the fields name it already, and it is none
            group.push_back(std::move(option));
        }
    }
    return {std::move(groups)};
}

// Every CUDA of the same torch; else the newest of its minor, else the next newer and older torch. In the
// same flavour where there is one.
Candidates pytorch_images(const Facts& facts, const ImageReference& reference) {
    const auto parts = text::split(reference.tag, '-');
    const auto present = Version::parse(parts.front());
    if (!present) return {};
    const auto tag = pytorch_tag(reference.tag);
    const std::string_view flavour = tag ? std::string_view(tag->flavour) : "devel";
    std::vector<Group> same;
    Group alike;
    Around around;
    for (const auto& row : facts.rows("pytorch_images")) {  // sorted
        if (row.text("exists") != "true") continue;
        const auto version = lookup::required_version(row, "torch");
        const auto flavours = row.list("flavours");
        for (const auto cuda : row.list("cuda")) {
            const auto other =
                lookup::pytorch_tag_of(row, cuda, contains(flavours, flavour) ? flavour : flavours.back());
            auto option = set_to(Field::image, fmt::format("{}:{}", reference.name, other.text()));
            if (version == *present) {
                same.push_back({std::move(option)});
            } else if (version.major_minor() == present->major_minor()) {
                alike.push_back(std::move(option));
            } else {
                (version > *present ? around.newer : around.older).push_back(std::move(option));
            }
        }
    }
    std::reverse(around.older.begin(), around.older.end());
    std::reverse(alike.begin(), alike.end());
    return {std::move(same), {std::move(alike)}, {std::move(around.newer), std::move(around.older)}};
}

Candidates ngc_images(const Facts& facts, const ImageReference& reference) {
    const auto release = [](std::string_view tag) { return Version::parse(tag.substr(0, tag.find('-'))); };
    const auto present = release(reference.tag);
    Around around;
    for (const auto& row : facts.rows("ngc_images")) {  // sorted
        const auto other = release(row.text("tag"));
        if (!present || !other || *other == *present) continue;
        (*other > *present ? around.newer : around.older)
            .push_back(set_to(Field::image, fmt::format("{}:{}", reference.name, row.text("tag"))));
    }
    std::reverse(around.older.begin(), around.older.end());
    return {{std::move(around.newer), std::move(around.older)}};
}

Candidates other_image(const Context& context, bool newest_first) {
    if (!context.cell.has(Field::image)) {
        const auto image = cuda_image(context);
        return image ? cuda_images(context.facts, *image, newest_first) : Candidates();
    }
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository) return {};
    const auto scheme = repository->text("scheme");
    if (scheme == "pytorch") return pytorch_images(context.facts, reference);
    if (scheme == "ngc") return ngc_images(context.facts, reference);
    // Of a tag that is none of its scheme as much is kept as can be read.
    return cuda_images(context.facts, {cuda_tag_like(reference.tag), {}, reference.name, true}, newest_first);
}

// --- a list that the rule names

// Of a compiler its own: 11 of gcc-11.
std::optional<Version> number_of(Field field, std::string_view text) {
    return field == Field::compiler ? Version::parse(text.substr(text.find('-') + 1))
                                    : version_of(field, text);
}

Candidates nearest_of(const Context& context, Field field, const std::vector<std::string>& values) {
    const auto present = number_of(field, context.cell.text(field));
    std::vector<std::pair<Version, std::string>> older, newer;
    Group rest;  // of another kind: 3.13 for 3.13t
    for (const auto& text : values) {
        const auto version = number_of(field, text);
        if (!version || !present || version->suffix() != present->suffix()) {
            rest.push_back(set_to(field, text));
        } else {
            (*version < *present ? older : newer).emplace_back(*version, text);
        }
    }
    const auto group = [&](std::vector<std::pair<Version, std::string>>& versions, bool newest_first) {
        std::stable_sort(versions.begin(), versions.end(), [&](const auto& a, const auto& b) {
            return newest_first ? a.first > b.first : a.first < b.first;
        });
        Group out;
        for (const auto& [version, text] : versions)
            out.push_back(set_to(field, text));
        return out;
    };
    // Of another kind the same minor comes first, then the last of the list.
    std::reverse(rest.begin(), rest.end());
    std::stable_partition(rest.begin(), rest.end(), [&](const FixOption& option) {
        const auto version = number_of(field, option.set.front().second);
        return version && present && version->major_minor() == present->major_minor();
    });
    return {{group(older, true)}, {group(newer, false)}, {std::move(rest)}};
}

Candidates any_other(const Context& context, const Bound& bound) {
    switch (bound.field) {
        case Field::torch:
            return other_torch(context, bound.values);
        case Field::os:
            return other_system(context);
        case Field::image:
            return other_image(context, false);
        case Field::packages:
            return other_release(context, bound.package);
        case Field::driver: {
            auto around = other_driver(context);
            return {{std::move(around.newer)}, {std::move(around.older)}};
        }
        case Field::cuda: {
            auto around = other_cuda(context, bound.note);
            return {{std::move(around.newer), std::move(around.older)}};
        }
        case Field::cudnn: {
            auto around = other_cudnn(context);
            return {{std::move(around.newer), std::move(around.older)}};
        }
        case Field::python: {
            auto around = other_python(context);
            return {{std::move(around.newer), std::move(around.older)}};
        }
        default:
            return {};
    }
}

}  // namespace

Candidates candidates(const Context& context, const Bound& bound) {
    switch (bound.kind) {
        case Bound::Kind::exactly:
            return {{{bound.option}}};
        case Bound::Kind::other:
            return any_other(context, bound);
        case Bound::Kind::at_least:
            if (bound.field == Field::image) return other_image(context, true);
            if (bound.field == Field::cuda) return {{other_cuda(context, bound.note).newer}};
            return newer_driver(context);
        case Bound::Kind::at_most:
            return {{other_cuda(context, bound.note).older}};
        case Bound::Kind::one_of:
            return nearest_of(context, bound.field, bound.values);
        case Bound::Kind::without:
            return {{{without_package(context, bound.package)}}};
    }
    return {};
}

}  // namespace cudamatrix::rules

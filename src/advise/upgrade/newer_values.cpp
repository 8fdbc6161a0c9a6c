#include "advise/upgrade/newer_values.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::upgrade {
namespace {

Life life_in(const Row& row, std::string_view ends) {
    return {std::string(row.text("released")), std::string(ends), row.ref()};
}

// YYYY-MM of "25.04-py3": NVIDIA names its images by month.
std::string month_of_tag(std::string_view tag) {
    const auto version = Version::parse(tag.substr(0, tag.find('-')));
    if (!version || version->size() != 2 || version->minor() == 0 || version->minor() > 12) return {};
    return fmt::format("20{:02}-{:02}", version->major(), version->minor());
}

Life life_of_image(const Facts& facts, std::string_view text) {
    const auto reference = lookup::image_reference(text);
    const auto repository = lookup::image_repository(facts, reference.repository);
    if (!repository) return {};
    const auto first = std::string_view(reference.tag).substr(0, reference.tag.find('-'));
    const auto scheme = repository->text("scheme");
    if (scheme == "ngc") return {month_of_tag(reference.tag), {}, repository->ref()};
    if (scheme == "pytorch") return life_of(facts, Field::torch, first);
    return scheme == "cuda" ? life_of(facts, Field::cuda, first) : Life{};
}

// "2026-11" and "2026-11-04" are both out on 2026-11-27.
bool is_out(const Life& life, std::string_view day) {
    if (!life.fact) return false;
    if (life.released.empty()) return day >= life.fact->as_of;
    return day.substr(0, life.released.size()) >= life.released;
}

bool is_out(const Row& row, std::string_view day) {
    return is_out(life_in(row, {}), day);
}

struct Release {
    Version version;
    std::string text;
};

// The newest first.
std::vector<std::string> texts(std::vector<Release> releases) {
    std::ranges::stable_sort(releases,
                             [](const Release& a, const Release& b) { return a.version > b.version; });
    std::vector<std::string> out;
    for (auto& release : releases)
        out.push_back(std::move(release.text));
    return out;
}

// The newest release of a branch was there on the day that its row was looked up; the oldest since the
// branch.
NewerValues newer_drivers(const Facts& facts, std::string_view present, std::string_view day) {
    const auto known = lookup::driver(facts, present);
    if (!known || !known->branch) return {};
    NewerValues out;
    std::vector<Release> beyond;
    for (const auto& row : facts.rows("driver_branches")) {
        const auto branch = lookup::required_version(row, "branch");
        if (!row.has("newest") || !is_out(row, day)) continue;
        const std::string release(row.text(day >= row.ref().as_of ? "newest" : "oldest"));
        if (row.id() == known->branch->id()) {
            const auto version = Version::parse(release);
            if (!known->bare_branch && version && *version > known->exact) out.on_line.push_back(release);
        } else if (branch > *Version::parse(known->branch->text("branch"))) {
            beyond.push_back({branch, known->bare_branch ? std::string(row.text("branch")) : release});
        }
    }
    out.beyond = texts(std::move(beyond));
    return out;
}

// Rows of a sorted table that are newer than `after` and were out: the newest of each minor, oldest first.
std::vector<Row> newest_of_minors(const Facts& facts, std::string_view table, std::string_view column,
                                  const Version& after, std::string_view day) {
    std::vector<Row> out;
    const auto version_in = [&](const Row& row) { return lookup::required_version(row, column); };
    for (const auto& row : facts.rows(table)) {
        const auto release = version_in(row);
        if (release <= after || !is_out(row, day)) continue;
        if (!out.empty() && version_in(out.back()).major_minor() == release.major_minor()) out.pop_back();
        out.push_back(row);
    }
    return out;
}

NewerValues newer_cuda(const Facts& facts, std::string_view present, std::string_view day) {
    const auto version = Version::parse(present);
    const auto known = lookup::cuda(facts, present);
    if (!version || !known) return {};
    const bool is_minor = version->size() < 3;
    NewerValues out;
    std::vector<Release> beyond;
    for (const auto& row : newest_of_minors(facts, "cuda_releases", "cuda", known->exact, day)) {
        const auto release = lookup::required_version(row, "cuda");
        if (release.major_minor() != known->exact.major_minor())
            beyond.push_back({release, is_minor ? release.major_minor() : release.text()});
        else if (!is_minor)
            out.on_line = {release.text()};
    }
    out.beyond = texts(std::move(beyond));
    return out;
}

// Builds with CUDA that have a wheel, in the words `text` of the release: the one that the index serves
// without a variant, then the newest CUDA first.
std::vector<std::string> builds_of(const Facts& facts, const Row& release, std::string_view text) {
    std::vector<Release> builds;
    std::set<std::string, std::less<>> seen;
    for (const auto& wheel : facts.rows("torch_wheels")) {
        if (wheel.text("torch") != release.text("torch") || !wheel.has("cuda")) continue;
        if (lookup::is_yanked_build(facts, wheel) || !seen.emplace(wheel.text("variant")).second) continue;
        builds.push_back(
            {lookup::required_version(wheel, "cuda"), fmt::format("{}+{}", text, wheel.text("variant"))});
    }
    auto out = texts(std::move(builds));
    const auto usual = fmt::format("{}+{}", text, release.text("default_variant"));
    std::stable_partition(out.begin(), out.end(), [&](const std::string& build) { return build == usual; });
    return out;
}

NewerValues newer_torch(const Facts& facts, std::string_view present, std::string_view day) {
    const auto version = version_of(Field::torch, present);
    if (!version || nightly_of(present)) return {};
    const bool is_minor = version->size() < 3;
    const auto variant = version->suffix();
    const auto newest = newest_of_minors(facts, "torch_releases", "torch", *version, day);
    NewerValues out;
    for (auto row = newest.rbegin(); row != newest.rend(); ++row) {
        const auto release = lookup::required_version(*row, "torch");
        const bool is_same = release.major_minor() == version->major_minor();
        if (is_same && is_minor) continue;
        auto& into = is_same ? out.on_line : out.beyond;
        const auto text = is_minor ? release.major_minor() : release.text();
        if (variant.empty() || variant == "+cpu") {
            into.push_back(text + variant);
            continue;
        }
        for (auto& build : builds_of(facts, *row, text)) {
            if (!is_same || build.ends_with(variant)) into.push_back(std::move(build));
        }
    }
    return out;
}

NewerValues newer_python(const Facts& facts, std::string_view present, std::string_view day) {
    const auto version = version_of(Field::python, present);
    if (!version) return {};
    std::vector<Release> beyond;
    for (const auto& row : facts.rows("pythons")) {
        const auto release = lookup::required_version(row, "python");
        if (release <= *Version::parse(version->major_minor()) || !is_out(row, day)) continue;
        beyond.push_back({release, release.text() + version->suffix()});
    }
    return {{}, texts(std::move(beyond))};
}

// Of the same distribution, and one that images are made on where the present one is.
NewerValues newer_systems(const Facts& facts, std::string_view present, std::string_view day) {
    const auto known = lookup::os(facts, present);
    if (!known) return {};
    const auto distribution = [](const Row& row) {
        return row.text("name").substr(0, row.text("name").rfind(' '));
    };
    NewerValues out;
    bool is_behind = false;
    for (const auto& row : facts.rows("operating_systems")) {  // sorted
        if (row.id() == known->id()) {
            is_behind = true;
        } else if (is_behind && distribution(row) == distribution(*known) &&
                   row.has("package_manager") >= known->has("package_manager") && is_out(row, day)) {
            out.beyond.insert(out.beyond.begin(), std::string(row.text("os")));
        }
    }
    return out;
}

// Tags of the same repository, kind and system; the rules say which of them there are.
std::vector<std::string> sister_tags(const Facts& facts, std::string_view scheme, std::string_view tag) {
    std::vector<std::string> out;
    if (const auto mine = lookup::cuda_tag(tag); mine && scheme == "cuda") {
        for (const auto& row : facts.rows("cuda_images")) {
            const lookup::CudaTag sister{std::string(row.text("cuda")), mine->flavour, mine->os};
            if (row.text("status") != "deleted" && lookup::cuda_image_row({{row}, false}, sister))
                out.push_back(sister.text());
        }
    } else if (const auto built = lookup::pytorch_tag(tag); built && scheme == "pytorch") {
        for (const auto& row : facts.rows("pytorch_images")) {
            for (const auto cuda : row.list("cuda"))
                out.push_back(lookup::pytorch_tag_of(row, cuda, built->flavour).text());
        }
    } else if (scheme == "ngc") {
        for (const auto& row : facts.rows("ngc_images"))
            out.emplace_back(row.text("tag"));
    }
    std::ranges::reverse(out);  // of one release the newest CUDA first
    return out;
}

NewerValues newer_images(const Facts& facts, std::string_view present, std::string_view day) {
    const auto reference = lookup::image_reference(present);
    const auto repository = lookup::image_repository(facts, reference.repository);
    const auto version_in = [](std::string_view tag) { return Version::parse(tag.substr(0, tag.find('-'))); };
    const auto version = version_in(reference.tag);
    if (!repository || !version || reference.pinned) return {};
    std::vector<Release> on_line, beyond;
    std::set<std::string> seen;
    for (const auto& tag : sister_tags(facts, repository->text("scheme"), reference.tag)) {
        const auto other = version_in(tag);
        auto text = fmt::format("{}:{}", reference.name, tag);
        if (!other || *other <= *version || !seen.insert(text).second) continue;
        if (!is_out(life_of(facts, Field::image, text), day)) continue;
        // The months of NVIDIA's images are no updates of each other.
        const bool is_update = version->size() > 2 && other->major_minor() == version->major_minor();
        (is_update ? on_line : beyond).push_back({*other, std::move(text)});
    }
    return {texts(std::move(on_line)), texts(std::move(beyond))};
}

}  // namespace

Life life_of(const Facts& facts, Field field, std::string_view text) {
    const auto of = [](const std::optional<Row>& row) {
        return row ? life_in(*row, row->text(row->has("lts_eol") ? "lts_eol" : "eol")) : Life{};
    };
    switch (field) {
        case Field::driver: {
            const auto known = lookup::driver(facts, text);
            return of(known ? known->branch : std::nullopt);
        }
        case Field::cuda: {
            const auto known = lookup::cuda(facts, text);
            return of(known ? known->release : std::nullopt);
        }
        case Field::torch: {
            const auto known = lookup::torch(facts, text, "x86_64");
            return of(known ? known->release : std::nullopt);
        }
        case Field::python:
            return of(lookup::python(facts, text));
        case Field::os:
            return of(lookup::os(facts, text));
        case Field::image:
            return life_of_image(facts, text);
        default:
            return {};
    }
}

bool has_ended(const Life& life, std::string_view day) {
    return !life.ends.empty() && day.substr(0, life.ends.size()) > life.ends;
}

NewerValues newer_values(const Facts& facts, Field field, std::string_view present, std::string_view day) {
    switch (field) {
        case Field::driver:
            return newer_drivers(facts, present, day);
        case Field::cuda:
            return newer_cuda(facts, present, day);
        case Field::torch:
            return newer_torch(facts, present, day);
        case Field::python:
            return newer_python(facts, present, day);
        case Field::os:
            return newer_systems(facts, present, day);
        case Field::image:
            return newer_images(facts, present, day);
        default:
            return {};
    }
}

}  // namespace cudamatrix::upgrade

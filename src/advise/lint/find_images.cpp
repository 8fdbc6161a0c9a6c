// What the matrix would be rendered into: images that cells share against their look, mirrors that nothing
// asks.
#include <algorithm>
#include <map>
#include <set>

#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/lock_request.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::lint {
namespace {

std::string value_text(const Cell* cell, Field field) {
    const auto* value = cell->get(field);
    return value == nullptr ? "nothing" : value->text;
}

// Everything that the steps of an image ask the network for: its base, and what `lock` resolves.
std::string questions(const Matrix& matrix, const Image& image) {
    const auto bootstrap = image.references().empty() ? bootstrap_of(image, matrix) : Bootstrap{};
    std::string out = text::join(bootstrap.command, " ");
    for (const auto& [name, value] : bootstrap.environment)
        out += fmt::format("\n{}={}", name, value);
    const auto files = lock_request(matrix, image, {});
    if (!files.ok()) return out;
    for (const auto& file : files.value())
        out += "\n" + file.content;
    return out;
}

// Whether a file or a question of any image would differ without the mirror at `index`.
bool is_asked(const Search& search, std::size_t index) {
    auto without = search.matrix;
    without.mirrors.erase(without.mirrors.begin() + static_cast<std::ptrdiff_t>(index));
    const auto plan = plan_images(without, cells_with_image(search.input.judgement), search.input.facts);
    if (plan.images.size() != search.plan.images.size()) return true;
    for (std::size_t i = 0; i < plan.images.size(); ++i) {
        if (questions(without, plan.images[i]) != questions(search.matrix, search.plan.images[i]))
            return true;
        // `lock` asks the services of snapshots where the choice is its own.
        const auto& facts = search.input.facts;
        for (const auto& archive : plan.images[i].snapshot_archives) {
            if (snapshot_service(facts, without.mirrors, archive) !=
                snapshot_service(facts, search.matrix.mirrors, archive))
                return true;
        }
    }
    return false;
}

}  // namespace

void find_same_images(Search& search) {
    std::map<std::string, const Cell*, std::less<>> cells;
    for (const auto& judged : search.input.judgement.cells)
        cells.emplace(judged.id, &judged.cell);
    for (const auto& image : search.plan.images) {
        const auto* first = cells.find(image.cells.front())->second;
        std::vector<std::string> differences;
        const Cell* other = nullptr;
        std::string other_id;
        Location where;
        for (const auto& field : all_fields()) {
            if (!image_fields().contains(field.field)) continue;
            const auto differs = std::ranges::find_if(image.cells, [&](const std::string& id) {
                return value_text(cells.find(id)->second, field.field) != value_text(first, field.field);
            });
            if (differs == image.cells.end()) continue;
            const auto* cell = cells.find(*differs)->second;
            differences.push_back(fmt::format("{} ({}, {})", field.name, value_text(first, field.field),
                                              value_text(cell, field.field)));
            if (other != nullptr) continue;
            other = cell;
            other_id = *differs;
            const auto* value =
                cell->get(field.field) != nullptr ? cell->get(field.field) : first->get(field.field);
            where = value->where;
        }
        if (differences.empty() || search.has("same-release-twice", where)) continue;
        auto& finding = search.add(
            "same-image", where,
            fmt::format("{} render one image, {}, though they differ in {}",
                        text::count(image.cells.size(), "cell"), image.id, text::join(differences, ", ")),
            "leave one of them out, unless they are to be judged apart");
        finding.notes.push_back(fmt::format("{} and {}", image.cells.front(), other_id));
    }
}

void find_not_rendered(Search& search) {
    std::map<std::string, const Cell*, std::less<>> cells;
    for (const auto& judged : search.input.judgement.cells)
        cells.emplace(judged.id, &judged.cell);
    // Who writes a whole reference has the image.
    auto refusals = search.plan.refusals;
    std::erase_if(refusals,
                  [&](const Refusal& refusal) { return cells.at(refusal.cell)->has(Field::image); });
    for (const auto& group : grouped(refusals)) {
        auto& finding = search.add(
            "cell-not-rendered", place_of_family(*cells.at(group.first_cell)),
            fmt::format("{} {} accepted and cannot be rendered: {}", text::count(group.cells, "cell"),
                        group.cells == 1 ? "is" : "are", group.reason),
            group.fix);
        finding.notes.push_back("first: " + group.first_cell);
        // Who names no image may want none.
        const bool wants_image = finding.where.line != 0 || !search.matrix.deployment.images.empty();
        if (!wants_image) finding.severity = Severity::note;
    }
}

void find_unused_mirrors(Search& search) {
    for (std::size_t i = 0; i < search.matrix.mirrors.size(); ++i) {
        if (is_asked(search, i)) continue;
        const auto where = search.places.mirror(search.matrix.mirrors[i].first);
        const auto images = text::count(search.plan.images.size(), "image");
        const auto& from = search.matrix.mirrors[i].first;
        auto& finding = search.add(
            "mirror-unused", where,
            fmt::format("no step asks the mirror of {}: {}", from,
                        search.plan.images.empty()
                            ? "no image of this matrix is rendered"
                            : fmt::format("the {} of this matrix would be the same without it", images)),
            "delete it", {search.editor.remove(where)});
        // Their addresses are the tools' own knowledge, so none of the facts could begin with this one.
        if (from.find("://") != std::string::npos)
            finding.notes.emplace_back(
                "the Python index and Debian's own archive are mirrored by their names only: pypi, debian");
    }
}

}  // namespace cudamatrix::lint

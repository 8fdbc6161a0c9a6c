// What moves together: packages with their torch, the CUDA and torch beside an image, a tag with its CUDA.
#include "advise/upgrade/fleet.hpp"

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::upgrade {
namespace {

// The tag of the same kind and system with another CUDA; an image that is none of nvidia/cuda stays.
std::string image_with_cuda(const Facts& facts, const std::string& image, const std::string& cuda) {
    const auto reference = lookup::image_reference(image);
    const auto repository = lookup::image_repository(facts, reference.repository);
    auto tag = lookup::cuda_tag(reference.tag);
    if (!tag || !repository || repository->text("scheme") != "cuda" || reference.pinned) return image;
    tag->cuda = cuda;
    return fmt::format("{}:{}", reference.name, tag->text());
}

}  // namespace

std::string companion_text(const Facts& facts, std::string_view package, std::string_view torch) {
    const auto known = lookup::torch(facts, torch, "x86_64");
    const auto row =
        known ? lookup::torch_companion(facts, pep440::canonical_name(package), known->exact) : std::nullopt;
    return row ? std::string(row->text("version")) : std::string();
}

std::vector<std::pair<Field, std::string>> held_by(const Facts& facts, std::string_view image) {
    const auto reference = lookup::image_reference(image);
    const auto repository = lookup::image_repository(facts, reference.repository);
    const auto scheme = repository ? repository->text("scheme") : std::string_view();
    if (const auto tag = lookup::cuda_tag(reference.tag); tag && scheme == "cuda")
        return {{Field::cuda, tag->cuda}};
    if (const auto tag = lookup::pytorch_tag(reference.tag); tag && scheme == "pytorch")
        return {{Field::torch, fmt::format("{}+{}", tag->release(), tag->variant())},
                {Field::cuda, tag->cuda}};
    return {};
}

std::optional<std::uint32_t> Fleet::companion(std::size_t package, std::string_view torch) const {
    return variable(package).find(companion_text(facts_, variable(package).package, torch));
}

Target Fleet::with(const Target& target, std::size_t unit, std::size_t row, std::size_t at,
                   std::uint32_t value) const {
    auto out = target;
    out[unit][row][at] = value;
    const auto moved_at = units_[unit].variables[at];
    const auto moved = text(moved_at, value);
    if (variable(moved_at).field == Field::torch) move_companions(out, unit, row, moved);
    if (variable(moved_at).field == Field::image) {
        for (const auto& [field, held] : held_by(facts_, moved)) {
            follow(out, unit, row, field, [&held = held](const std::string&) { return held; });
            if (field == Field::torch) move_companions(out, unit, row, held);
        }
    }
    if (variable(moved_at).field == Field::cuda) {
        follow(out, unit, row, Field::image,
               [&](const std::string& image) { return image_with_cuda(facts_, image, moved); });
    }
    return out;
}

void Fleet::follow(Target& out, std::size_t unit, std::size_t row, Field field,
                   const std::function<std::string(const std::string&)>& value_for) const {
    for (std::size_t u = 0; u < units_.size(); ++u) {
        const auto front = u == unit ? row : units_[u].front;
        for (std::size_t v = 0; v < units_[u].variables.size(); ++v) {
            const auto at = units_[u].variables[v];
            if (variable(at).field != field || text(at, out[u][front][v]).empty()) continue;
            const auto now = variable(at).find(value_for(text(at, out[u][front][v])));
            if (now) out[u][front][v] = *now;
        }
    }
}

void Fleet::move_companions(Target& out, std::size_t unit, std::size_t row, std::string_view torch) const {
    for (std::size_t u = 0; u < units_.size(); ++u) {
        for (std::size_t v = 0; v < units_[u].variables.size(); ++v) {
            const auto package = units_[u].variables[v];
            auto& present = out[u][u == unit ? row : units_[u].front][v];
            if (variable(package).package.empty() || text(package, present).empty() ||
                text(package, present) == kCompanionVersion || text(package, present) == kAnyVersion)
                continue;
            if (const auto release = companion(package, torch)) present = *release;
        }
    }
}

}  // namespace cudamatrix::upgrade

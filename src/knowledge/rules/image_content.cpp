#include "knowledge/rules/image_content.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

bool is_about(const std::vector<Field>& about, Field field) {
    return std::find(about.begin(), about.end(), field) != about.end();
}

Finding about_image(const ImageContent& image, Finding found, Field stands_for, std::string_view aspect) {
    found.aspect = aspect;
    found.primary = found.primary == stands_for ? Field::image : found.primary;
    std::replace(found.about.begin(), found.about.end(), stands_for, Field::image);
    found.message = fmt::format("{}: {}", image.text, found.message);
    found.facts.insert(found.facts.begin(), image.facts.begin(), image.facts.end());
    found.drop_bounds(stands_for);
    return found;
}

Acceptance about_image(const ImageContent& image, Acceptance accepted, Field stands_for,
                       std::string_view aspect) {
    accepted.aspect = aspect;
    std::replace(accepted.about.begin(), accepted.about.end(), stands_for, Field::image);
    accepted.sentence = fmt::format("{}: {}", image.text, accepted.sentence);
    accepted.facts.insert(accepted.facts.begin(), image.facts.begin(), image.facts.end());
    return accepted;
}

bool is_listed(const Facts& facts, const PytorchTag& tag) {
    const auto rows = facts.rows("pytorch_images");
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.text("exists") == "true" && lookup::spells_torch(row, tag) &&
               row.text("cudnn") == tag.cudnn && contains(row.list("cuda"), tag.cuda) &&
               contains(row.list("flavours"), tag.flavour);
    });
}

// "25.08-py3" as 25.08.
std::optional<Version> ngc_release(std::string_view tag) {
    return Version::parse(tag.substr(0, tag.find('-')));
}

Unresolved moving(const ImageContent& image) {
    return {
        Field::image, fmt::format("no fact says what {} holds, whose tag is of no release", image.text), {}};
}

// An image of NVIDIA's own by its row; without one, or with a row that does not say which CUDA it is, the
// newest tag before it that does is what is known.
void read_ngc(const Facts& facts, const std::string& tag, ImageContent& out) {
    if (const auto row = facts.row("ngc-pytorch-" + tag)) {
        out.ngc = row;
        out.listed = true;
        out.facts = {row->ref()};
        out.cuda = row->text("cuda");
        if (!out.cuda.empty()) return;
    }
    const auto release = ngc_release(tag);
    if (!release) {
        out.gap = moving(out);
        return;
    }
    std::optional<Row> near;
    for (const auto& row : facts.rows("ngc_images")) {
        // The rows are sorted.
        if (row.has("cuda") && (!near || *ngc_release(row.text("tag")) <= *release)) near = row;
    }
    out.gap = {Field::image,
               fmt::format("{} {}", out.listed ? "no fact gives the CUDA of" : "no fact describes", out.text),
               {}};
    if (near) {
        out.gap.what += fmt::format(" (the nearest that is known is {}, of CUDA {})", near->text("tag"),
                                    near->text("cuda"));
        out.gap.near = {set_to(Field::image, fmt::format("{}:{}", out.name, near->text("tag")))};
    }
}

// What the configuration of any other image says.
void read_other(const Row& row, ImageContent& out) {
    out.other = row;
    out.listed = true;
    out.facts = {row.ref()};
    out.cuda = row.text("cuda");
    if (out.cuda.empty())
        out.gap = {Field::image, fmt::format("the configuration of {} names no CUDA", out.text), {}};
}

// A release's tag that is not of their one form never existed, which image-tag-exists says.
bool may_move(std::string_view tag) {
    const auto parts = text::split(tag, '-');
    return parts.size() < 2 || !parts[1].starts_with("cuda") || !Version::parse(parts[0]);
}

}  // namespace

std::optional<ImageContent> image_content(const Context& context) {
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (reference.pinned && repository) return std::nullopt;  // a digest may be anything
    const auto other = repository ? std::nullopt : other_image(context.facts, reference);
    if (!repository && !other) return std::nullopt;
    ImageContent out;
    out.text = reference.pinned ? fmt::format("image {}@{}", reference.name, reference.digest)
                                : fmt::format("image {}:{}", reference.name, reference.tag);
    out.name = reference.name;
    if (other) {
        read_other(*other, out);
        return out;
    }
    const auto scheme = repository->text("scheme");
    if (scheme == "cuda") {
        out.cuda_tag = cuda_tag(reference.tag);
        if (!out.cuda_tag) return std::nullopt;
        out.cuda = out.cuda_tag->cuda;
        cite(out.facts, context.facts, "image-policy-cuda-tag-form");
    } else if (scheme == "pytorch") {
        out.pytorch_tag = pytorch_tag(reference.tag);
        if (!out.pytorch_tag) {
            if (!may_move(reference.tag)) return std::nullopt;
            out.gap = moving(out);
            return out;
        }
        out.cuda = out.pytorch_tag->cuda;
        out.torch = out.pytorch_tag->release() + "+" + out.pytorch_tag->variant();
        out.listed = is_listed(context.facts, *out.pytorch_tag);
        cite(out.facts, context.facts, "image-policy-pytorch-tag-form");
    } else if (scheme == "ngc") {
        out.own_torch = true;
        read_ngc(context.facts, reference.tag, out);
    }
    return out;
}

void judge_as(Ask& ask, const ImageContent& image, const Rule& rule, Field field, const std::string& value,
              std::string_view aspect) {
    const Value stands_in{value, {}, {}};
    const auto cell = ask.cell.with(field, &stands_in);
    // What it would say without the image is not said twice.
    const bool asked_anyway = applies(rule, ask.cell.cell());
    const auto is_new = [&](const std::vector<Field>& about) {
        return !asked_anyway || is_about(about, field);
    };
    Findings found;
    Acceptances accepted;
    Ask other(ask.Context::about(cell), rule.stage, found);
    if (ask.accepted != nullptr) other.accepted = &accepted;
    rule.judge(other);
    for (auto& each : accepted) {
        if (is_new(each.about)) ask.accepted->push_back(about_image(image, std::move(each), field, aspect));
    }
    for (auto& finding : found) {
        // Gaps about the tag itself belong to the rules about images; of a tag that there is, it is what it
        // holds that is not known.
        const bool is_gap =
            finding.severity == Severity::unknown && finding.primary == field && !image.listed;
        if (!is_gap && is_new(finding.about))
            ask.out().push_back(about_image(image, std::move(finding), field, aspect));
    }
}

void offer_other_tags(Ask& ask) {
    for (auto& finding : ask.out()) {
        if (finding.severity == Severity::error) Answer(finding).other(Field::image);
    }
}

}  // namespace cudamatrix::rules

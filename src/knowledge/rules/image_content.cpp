#include "knowledge/rules/image_content.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

using Judge = std::function<void(Ask&, const ImageContent&)>;

bool is_about(const std::vector<Field>& about, Field field) {
    return std::find(about.begin(), about.end(), field) != about.end();
}

Finding about_image(const ImageContent& image, Finding found, Field stands_for, std::string_view aspect) {
    found.aspect = aspect;
    found.primary = found.primary == stands_for ? Field::image : found.primary;
    std::replace(found.about.begin(), found.about.end(), stands_for, Field::image);
    found.message = fmt::format("{}: {}", image.text, found.message);
    found.facts.insert(found.facts.begin(), image.facts.begin(), image.facts.end());
    std::erase_if(found.fixes, [&](const FixOption& fix) {
        return std::any_of(fix.set.begin(), fix.set.end(),
                           [&](const auto& set) { return set.first == stands_for; });
    });
    return found;
}

Acceptance about_image(const ImageContent& image, Acceptance accepted, Field stands_for) {
    std::replace(accepted.about.begin(), accepted.about.end(), stands_for, Field::image);
    accepted.question = fmt::format("{}: {}", image.text, accepted.question);
    accepted.facts.insert(accepted.facts.begin(), image.facts.begin(), image.facts.end());
    return accepted;
}

// A tag of the image's repository, and the release by which it is near or far.
struct Other {
    std::string tag;
    Version release;
};

std::vector<Other> cuda_tags(const Facts& facts, const CudaTag& own) {
    std::vector<Other> out;
    for (const auto& row : facts.rows("cuda_images")) {
        if (row.text("status") == "deleted" || !contains(row.list("os"), own.os)) continue;
        for (const auto flavour : row.list("flavours")) {
            const CudaTag tag{std::string(row.text("cuda")), std::string(flavour), own.os};
            if (tag.kind() == own.kind() && tag.has_cudnn() == own.has_cudnn())
                out.push_back({tag.text(), lookup::required_version(row, "cuda")});
        }
    }
    return out;
}

std::vector<Other> pytorch_tags(const Facts& facts, const PytorchTag& own) {
    std::vector<Other> out;
    for (const auto& row : facts.rows("pytorch_images")) {
        if (row.text("exists") != "true" || !contains(row.list("flavours"), own.flavour)) continue;
        for (const auto cuda : row.list("cuda")) {
            out.push_back({lookup::pytorch_tag_of(row, cuda, own.flavour).text(),
                           lookup::required_version(row, "torch")});
        }
    }
    return out;
}

// "25.08-py3" as 25.08.
std::optional<Version> ngc_release(std::string_view tag) {
    return Version::parse(tag.substr(0, tag.find('-')));
}

std::vector<Other> ngc_tags(const Facts& facts) {
    std::vector<Other> out;
    for (const auto& row : facts.rows("ngc_images"))
        out.push_back({std::string(row.text("tag")), *ngc_release(row.text("tag"))});
    return out;
}

bool is_listed(const Facts& facts, const PytorchTag& tag) {
    const auto rows = facts.rows("pytorch_images");
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.text("exists") == "true" && lookup::spells_torch(row, tag) &&
               row.text("cudnn") == tag.cudnn && contains(row.list("cuda"), tag.cuda) &&
               contains(row.list("flavours"), tag.flavour);
    });
}

bool passes(const Ask& ask, const std::string& tag, const ImageContent& image, const Judge& judge) {
    const Value value{image.name + ":" + tag, {}, {}};
    const auto cell = ask.cell.with(Field::image, &value);
    Findings found;
    Ask other({cell, ask.facts, ask.today, false}, ask.stage(), found);
    judge(other, *image_content(other));
    return std::none_of(found.begin(), found.end(),
                        [](const Finding& finding) { return finding.verdict() >= Verdict::unknown; });
}

std::vector<FixOption> other_tags(const Ask& ask, const ImageContent& image, const Judge& judge) {
    std::vector<Other> tags;
    std::optional<Version> own;
    if (image.cuda_tag) {
        tags = cuda_tags(ask.facts, *image.cuda_tag);
        own = Version::parse(image.cuda_tag->cuda);
    } else if (image.pytorch_tag) {
        tags = pytorch_tags(ask.facts, *image.pytorch_tag);
        own = Version::parse(image.pytorch_tag->release());
    } else {
        tags = ngc_tags(ask.facts);
        own = ngc_release(image.ngc->text("tag"));
    }
    std::optional<Other> same, newer, older;
    for (const auto& tag : tags) {
        auto& best = tag.release == *own ? same : tag.release > *own ? newer : older;
        if (&best == &newer && newer) continue;  // the rows are sorted: the first is the nearest
        if (passes(ask, tag.tag, image, judge)) best = tag;
    }
    std::vector<FixOption> out;
    const auto offer = [&](const std::optional<Other>& other) {
        if (other) out.push_back(set_to(Field::image, image.name + ":" + other->tag));
    };
    offer(same);
    if (!same) {
        offer(newer);
        offer(older);
    }
    return out;
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

// A release's tag that is not of their one form never existed, which image-tag-exists says.
bool may_move(std::string_view tag) {
    const auto parts = text::split(tag, '-');
    return parts.size() < 2 || !parts[1].starts_with("cuda") || !Version::parse(parts[0]);
}

}  // namespace

std::optional<ImageContent> image_content(const Context& context) {
    auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository || reference.pinned) return std::nullopt;  // a digest may be anything
    if (reference.tag.empty()) reference.tag = "latest";
    ImageContent out;
    out.text = fmt::format("image {}:{}", reference.name, reference.tag);
    out.name = reference.name;
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
        if (is_new(each.about)) ask.accepted->push_back(about_image(image, std::move(each), field));
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

void offer_other_tags(Ask& ask, const ImageContent& image, const Judge& judge) {
    const auto is_rejection = [](const Finding& finding) { return finding.severity == Severity::error; };
    if (!ask.wants_fixes || std::none_of(ask.out().begin(), ask.out().end(), is_rejection)) return;
    const auto tags = other_tags(ask, image, judge);
    for (auto& finding : ask.out()) {
        if (is_rejection(finding)) Answer(finding).fix(tags);
    }
}

}  // namespace cudamatrix::rules

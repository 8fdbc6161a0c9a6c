// The images of nvidia/cuda carry a condition on the host, NVIDIA_REQUIRE_CUDA, that a container toolkit
// checks at start, or does not: stricter than what the driver could run, since minor-version compatibility is
// not in it. The cell's env may replace it and add others (NVIDIA_REQUIRE_*).
#include <utility>

#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/requirement_clause.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

std::string runs_text(const ImageHost& host) {
    if (!host.native.at_least) return " is older";
    return fmt::format(" runs CUDA {}", host.native.at_least->text());
}

// Who checks: the hook that docker calls for --gpus does in every version; the nvidia runtime does in the
// mode that it takes by default up to some version.
std::string check_text(const Context& context, const std::optional<Row>& toolkit,
                       std::vector<FactRef>& facts) {
    const auto version = context.cell.text(Field::toolkit);
    if (toolkit) {
        facts.push_back(toolkit->ref());
        if (toolkit->text("checks_requirements") == "true")
            return fmt::format(": container toolkit {} refuses to start it", version);
        return fmt::format(
            ": the hook behind docker's --gpus refuses to start it, the nvidia runtime of container toolkit "
            "{} "
            "starts it unchecked and a failure moves to runtime",
            version);
    }
    if (!version.empty())
        return fmt::format(
            ": the hook behind docker's --gpus refuses to start it, of the nvidia runtime of container "
            "toolkit {} no fact says whether it does",
            version);
    for (const auto& row : context.facts.rows("container_toolkits")) {
        if (row.text("checks_requirements") == "true") continue;
        facts.push_back(row.ref());
        return fmt::format(
            ": the hook behind docker's --gpus refuses to start it, only the nvidia runtime of container "
            "toolkit {} or newer does not check",
            row.text("first"));
    }
    return {};
}

// A toolkit that is not given is taken to check: all of them do where docker is asked with --gpus.
bool is_checked(const Context& context, const std::optional<Row>& toolkit) {
    if (toolkit) return toolkit->text("checks_requirements") == "true";
    return !context.cell.has(Field::toolkit);
}

// What asks: the image, or a variable of the cell's env.
struct Asker {
    Field field = Field::image;
    std::string text;  ///< "image nvidia/cuda:12.6.3-base-ubuntu22.04", "the container with env X"
};

// `compute` of the GPU, where it was asked for.
void refuse(Ask& ask, const Asker& asker, const ImageHost& host, Requirement wanted,
            const std::string& compute = {}) {
    const auto toolkit = container_toolkit(ask);
    const bool depends = wanted.answer == RequirementAnswer::depends_on_gpu;
    std::string text = fmt::format("{} requires {}; {}{}", asker.text, wanted.text,
                                   host_driver_text(ask, host.driver), runs_text(host));
    if (!host.gpu_class.empty()) text += fmt::format(" and the GPU is of class {}", host.gpu_class);
    if (!compute.empty()) text += fmt::format(" and of compute capability {}", compute);
    if (depends) text += " and gpu is not given";
    text += check_text(ask, toolkit, wanted.facts);
    const bool is_error = is_checked(ask, toolkit) && !depends;
    auto answer = ask.say(is_error ? Severity::error : Severity::warning, std::move(text));
    answer.because(wanted.facts);
    if (asker.field == Field::env)
        answer.other(Field::driver);
    else
        answer.at_least(Field::driver).other(Field::image);
}

// A clause as somebody wrote it: nvidia/cuda's have up to two thousand characters.
std::string shown(std::string_view clause) {
    constexpr std::size_t longest = 120;
    const auto text = text::printable(clause);
    return text.size() <= longest ? text : text.substr(0, text.rfind(' ', longest)) + " ...";
}

void say_answer(Ask& ask, const Asker& asker, std::string_view clause, ClauseResult result,
                const ImageHost& host, const std::optional<FactRef>& read = {}) {
    ask.question({asker.field, Field::driver, Field::gpu}, fmt::format("whether {} starts", asker.text),
                 asker.text);
    Requirement wanted{RequirementAnswer::refused, std::move(result.facts), shown(clause)};
    if (read) wanted.facts.insert(wanted.facts.begin(), *read);
    switch (result.answer) {
        case ClauseAnswer::met:
            ask.accept(wanted.facts);
            return;
        case ClauseAnswer::open:
            ask.unknown(result.field, "{} requires {}, and {}", asker.text, wanted.text, result.why)
                .because(wanted.facts);
            return;
        case ClauseAnswer::malformed: {
            const auto toolkit = container_toolkit(ask);
            auto text = fmt::format("{} requires '{}', which is no condition (invalid expression)",
                                    asker.text, text::printable(result.part));
            text += check_text(ask, toolkit, wanted.facts);
            ask.say(is_checked(ask, toolkit) ? Severity::error : Severity::warning, std::move(text))
                .because(wanted.facts);
            return;
        }
        case ClauseAnswer::depends_on_gpu:
            wanted.answer = RequirementAnswer::depends_on_gpu;
            break;
        case ClauseAnswer::refused:
            break;
    }
    refuse(ask, asker, host, std::move(wanted), result.compute);
}

constexpr std::string_view kRequire = "NVIDIA_REQUIRE_", kRequireCuda = "NVIDIA_REQUIRE_CUDA";

// The variables of the cell's env that the toolkit reads as conditions.
std::vector<std::pair<std::string, std::string>> conditions_of_env(const Ask& ask) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto* env = ask.cell.value(Field::env);
    if (env == nullptr) return out;
    for (const auto& [name, text] : env->items) {
        if (name.starts_with(kRequire) && !name.starts_with("NVIDIA_REQUIRE_JETPACK"))
            out.emplace_back(name, text);
    }
    return out;
}

bool is_switched_off(Ask& ask) {
    ask.question({Field::env}, {}, "switch");
    const auto policy = image_policy(ask.facts, "disable-require");
    const auto disable = member(ask, Field::env, "NVIDIA_DISABLE_REQUIRE");
    if (disable && contains(policy.list("values"), *disable)) return true;
    if (member(ask, Field::env, "NVIDIA_DISABLE_REQUIRES")) {
        ask.note(
               "NVIDIA_DISABLE_REQUIRES is not read by the container toolkit: the switch is "
               "NVIDIA_DISABLE_REQUIRE")
            .because(policy.ref());
    }
    return false;
}

// A tag that never was starts nowhere: image-tag-exists says so. One that was deleted may still lie on a
// host.
bool never_was(const Context& context, const CudaImage& image) {
    if (image.pinned || image.tag.os.empty()) return false;
    const auto release = cuda_release_images(context.facts, image.tag.cuda);
    if (cuda_image_row(release, image.tag)) return false;
    if (release.rows.empty()) return image.by_reference;
    return release.rows.front().has("os");
}

void say_unknown(Ask& ask, const CudaImage& image, const Unresolved& gap, const std::vector<FactRef>& facts) {
    ask.question({gap.field, image.field, Field::driver}, ask.text());
    ask.unknown(gap).because(facts);
}

void judge_tag(Ask& ask, const CudaImage& image, const ImageHost& host) {
    const auto wanted = requirement(ask, image, host);
    ask.question({Field::driver, image.field},
                 fmt::format("whether {} starts {}", host_driver_text(ask, host.driver), image.text));
    using enum RequirementAnswer;
    if (wanted.answer == depends_on_image) return;  // os is absent, and not guessed
    if (wanted.answer == met) {
        ask.accept(wanted.facts);
    } else if (wanted.answer == open) {
        say_unknown(ask, image,
                    {image.field, "no fact lists all driver branches on which " + image.text + " starts", {}},
                    wanted.facts);
    } else if (wanted.answer == depends_on_gpu && ask.cell.has(Field::gpu)) {
        say_unknown(ask, image,
                    {Field::gpu,
                     fmt::format("no fact knows gpu {}, and the image excuses the driver's branch for some "
                                 "GPUs only",
                                 ask.cell.text(Field::gpu)),
                     {}},
                    wanted.facts);
    } else {
        refuse(ask, {image.field, image.text}, host, wanted);
    }
}

// The row of the very image: what it was seen to ask for comes before what a table says of its release.
std::optional<Row> seen_image(const Context& context, const std::optional<CudaImage>& image) {
    if (context.cell.has(Field::image))
        return other_image(context.facts, image_reference(context.cell.text(Field::image)));
    if (!image || image->tag.os.empty() || image->tag.flavour.empty()) return std::nullopt;
    return other_image(context.facts, image_reference(fmt::format("{}:{}", image->name, image->tag.text())));
}

// What it asks for on the cell's processor; empty: nothing.
std::string_view asked_by(const Row& seen, const Context& context) {
    constexpr std::string_view column = "requires_aarch64";
    const bool differs = context.cell.text(Field::arch) == "aarch64" && seen.has(column);
    const auto text = seen.text(differs ? column : "requires");
    return text == "none" ? std::string_view() : text;
}

// By what it was seen to ask for; where that leaves it open, a table may know the first driver of its CUDA.
void judge_image(Ask& ask, const std::optional<CudaImage>& image, const std::optional<Row>& seen,
                 const ImageHost& host) {
    if (!seen) return judge_tag(ask, *image, host);
    const auto clause = asked_by(*seen, ask);
    auto result = judge_clause(ask, clause, host);
    if (image && result.answer == ClauseAnswer::open) return judge_tag(ask, *image, host);
    const Asker asker = image ? Asker{image->field, image->text}
                              : Asker{Field::image, fmt::format("image {}", ask.cell.text(Field::image))};
    say_answer(ask, asker, clause, std::move(result), host, seen->ref());
}

void judge_image_requirement_met(Ask& ask) {
    auto image = started_image(ask);
    const auto seen = seen_image(ask, image);
    if (image && !seen && never_was(ask, *image)) return;
    const auto written =
        ask.cell.text(Field::family) == "cpu" ? decltype(conditions_of_env(ask))() : conditions_of_env(ask);
    const bool asks = seen ? !asked_by(*seen, ask).empty() : image.has_value();
    if (!asks && written.empty()) return;
    if (const auto gpu = integrated_gpu(ask)) {
        if (is_switched_off(ask)) return;
        auto facts = gpu->facts;
        cite(facts, ask.facts, "policy-jetson-driver");
        const auto starts = image ? image->text : "the container";
        ask.question({outside_branches(*gpu).field, image ? image->field : Field::env, Field::driver},
                     fmt::format("whether its driver {} starts {}", ask.cell.text(Field::driver), starts));
        ask.unknown(outside_branches(*gpu)).because(facts);
        return;
    }
    const auto host = image_host(ask);  // another unknown driver is left to the rules about drivers
    if (!host || is_switched_off(ask)) return;
    for (const auto& [name, clause] : written)
        say_answer(ask, {Field::env, "the container with env " + name}, clause,
                   judge_clause(ask, clause, *host), *host);
    if (member(ask, Field::env, kRequireCuda)) return;  // it stands in place of the image's own
    if (asks) judge_image(ask, image, seen, *host);
}

}  // namespace

Rule image_requirement_met() {
    return {
        .id = "image-requirement-met",
        .stage = Stage::container_start,
        .summary = "The host meets the conditions that the image or env puts on the start of the container.",
        .why =
            "NVIDIA_REQUIRE_CUDA in the image names the CUDA that the driver must run itself, and driver "
            "branches with kinds of GPUs that are excused. The hook behind docker's --gpus checks it in "
            "every "
            "toolkit and ends the start with \"nvidia-container-cli: requirement error: unsatisfied "
            "condition: cuda>=12.6\", although minor-version compatibility would let the program run; "
            "only the nvidia runtime in its jit-cdi mode starts the image unchecked.",
        .fails =
            "image: \"nvidia/cuda:12.6.3-base-ubuntu22.04\", driver: 535.183.01, gpu: RTX 4090, "
            "toolkit: 1.17.8",
        .passes =
            "image: \"nvidia/cuda:12.6.3-base-ubuntu22.04\", driver: 535.183.01, gpu: A100 80GB, "
            "toolkit: 1.17.8",
        .reads = {Field::image, Field::family, Field::cuda, Field::os, Field::flavour, Field::cudnn,
                  Field::arch, Field::driver, Field::gpu, Field::compute, Field::host_class, Field::toolkit,
                  Field::env, Field::platform},
        .needs = {{Field::image, Field::family}, {Field::driver}},
        .judge = judge_image_requirement_met};
}

}  // namespace cudamatrix::rules

#include "run/job/lock.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "look/measure/image_news.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::job {

LockScope LockScope::everything() {
    LockScope scope;
    scope.references_ = scope.bases_ = scope.apt_ = scope.wheels_ = true;
    return scope;
}

Result<LockScope> LockScope::of(const std::vector<std::string>& words, const std::vector<Image>& images,
                                const std::vector<std::string>& named) {
    if (words.empty()) return everything();
    const std::pair<std::string_view, bool LockScope::*> kinds[] = {{"images", &LockScope::references_},
                                                                    {"bases", &LockScope::bases_},
                                                                    {"apt", &LockScope::apt_},
                                                                    {"wheels", &LockScope::wheels_}};
    std::vector<std::string> names = named;
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
        const auto is_name = [&](const std::string& name) { return std::ranges::count(names, name) > 0; };
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

namespace {

// The columns of other_images.
ImageConfiguration configuration_of(const measure::MeasuredRow& row, const std::string& digest,
                                    const std::string& today) {
    const auto text = [&](std::string_view column) {
        const auto* cell = row.cell(column);
        return cell == nullptr ? std::string() : cell->values.front();
    };
    return {
        digest, today, row.cell("arch")->values, text("cuda"), text("requires"), text("requires_aarch64")};
}

void say_unknown(Job& job, std::string_view reference, const Failure& why) {
    job.progress.say(fmt::format("what {} requires of its host stays unknown: {}", reference,
                                 why.diagnostics.front().message));
}

class Asker {
  public:
    Asker(Http& http, Job& job, const LockScope& scope)
        : client_(http), job_(job), lock_(job.plan.lock), scope_(scope) {}

    /// `architectures` of the images on it; none: cells name it, and no image is built on it.
    Status ask(const std::string& text, const std::set<std::string>& architectures, RegistryBases& out) {
        CM_TRY_ASSIGN(const auto reference, parse_image_reference(text));
        CM_TRY_ASSIGN(const auto place, place_of(reference, job_.input.matrix.mirrors));
        host_ = place.reference.host;
        is_base_ = !architectures.empty();
        const auto pinned = digest_in_lock(text);
        return !pinned.empty() && !scope_.reference(text) ? compare(reference, pinned, out)
                                                          : take(reference, pinned, architectures, out);
    }

  private:
    [[nodiscard]] std::string digest_in_lock(const std::string& text) const {
        const auto* base = lock_.registry_base(text);
        const auto* configuration = lock_.configuration(text);
        if (is_base_) return base == nullptr ? std::string() : base->digest;
        return configuration == nullptr ? std::string() : configuration->digest;
    }

    [[nodiscard]] bool is_described(const ImageReference& reference, const std::string& digest) const {
        const auto* known = lock_.configuration(reference.text());
        return known != nullptr && known->digest == digest;
    }

    // What is pinned stays; a tag that has gone elsewhere is a finding.
    Status compare(const ImageReference& reference, const std::string& pinned, RegistryBases& out) {
        if (is_base_) out.references[reference.text()] = {pinned};
        auto now = std::optional(reference.digest);
        if (reference.digest.empty()) {
            CM_TRY_ASSIGN(now, client_.digest_of_tag(reference));
        }
        if (now == pinned && is_described(reference, pinned)) return Done{};
        auto by_digest = reference;
        by_digest.digest = pinned;
        CM_TRY_ASSIGN(const auto kept, client_.find(by_digest));
        if (kept) {
            CM_TRY(describe(reference, *kept, out));
        }
        if (now == pinned) return Done{};
        if (!kept) out.out_of_reach.insert(reference.text());
        auto finding =
            now ? Diagnostic::error(fmt::format("{} has moved: {} pins {}, the registry {} now gives {}",
                                                reference.text(), kLockFile, pinned, host_, *now))
                : Diagnostic::error(
                      fmt::format("{} has vanished: {} pins {}, the registry {} has no such tag now",
                                  reference.text(), kLockFile, pinned, host_));
        finding = std::move(finding).with_note(kept ? "what is pinned can still be pulled by its digest"
                                                    : "what is pinned cannot be pulled any longer");
        out.findings.push_back(std::move(finding).with_fix(
            now ? fmt::format("cudamatrix lock --update={} {}", reference.text(), job_.input.matrix.path)
                : std::string("choose a tag that there is, or a mirror that keeps it: "
                              "mirrors: {docker.io: HOST/PATH}")));
        return Done{};
    }

    Status take(const ImageReference& reference, const std::string& pinned,
                const std::set<std::string>& architectures, RegistryBases& out) {
        CM_TRY_ASSIGN(const auto manifest, client_.find(reference));
        if (!manifest) return missing(reference, pinned, out);
        bool fits = true;
        for (const auto& architecture : architectures) {
            if (!manifest->is_index()) continue;
            const auto image = image_in_index(*manifest, reference.text(), architecture);
            if (image.ok()) continue;
            out.findings.push_back(image.failure().diagnostics.front());
            fits = false;
        }
        if (!fits) return can_stay(reference, pinned, out);
        if (is_base_) out.references[reference.text()] = {manifest->digest};
        return describe(reference, *manifest, out);
    }

    // Cells may name images that never were, or that are made later: that is the rules' to say.
    Status missing(const ImageReference& reference, const std::string& pinned, RegistryBases& out) {
        auto text = fmt::format("{}: the registry {} has no such tag", reference.text(), host_);
        if (!is_base_ && pinned.empty()) {
            job_.progress.say(text);
            return Done{};
        }
        CM_TRY(can_stay(reference, pinned, out));
        if (!pinned.empty()) text += fmt::format(" now: {} pins {}", kLockFile, pinned);
        out.findings.push_back(
            Diagnostic::error(std::move(text))
                .with_fix(
                    "choose a tag that there is, or a mirror that has it: mirrors: {docker.io: HOST/PATH}"));
        return Done{};
    }

    // Whether what is pinned can take the place of what the tag does not give.
    Status can_stay(const ImageReference& reference, const std::string& pinned, RegistryBases& out) {
        if (!pinned.empty()) {
            auto by_digest = reference;
            by_digest.digest = pinned;
            CM_TRY_ASSIGN(const auto kept, client_.find(by_digest));
            if (kept) return Done{};
        }
        out.out_of_reach.insert(reference.text());
        return Done{};
    }

    // Once for each digest: nothing behind it changes. What cannot be described is pinned all the same, and
    // the rules say what is unknown of it.
    Status describe(const ImageReference& reference, const OciManifest& manifest, RegistryBases& out) {
        if (is_described(reference, manifest.digest)) return Done{};
        const auto seen = measure::see_all_of_image(client_, reference, manifest);
        const auto row =
            seen.ok() ? measure::other_image_row(*seen) : Result<measure::MeasuredRow>(seen.failure());
        if (row.ok()) {
            out.configurations[reference.text()] =
                configuration_of(*row, manifest.digest, job_.settings.today);
            return Done{};
        }
        if (row.failure().code == ExitCode::interrupted) return row.failure();
        out.outdated.insert(reference.text());
        say_unknown(job_, reference.text(), row.failure());
        return Done{};
    }

    OciClient client_;
    Job& job_;
    const Lock& lock_;
    const LockScope& scope_;
    std::string host_;
    bool is_base_ = false;
};

// By reference: the architectures of the images on it.
std::map<std::string, std::set<std::string>> wanted_images(const Job& job, const LockScope& scope,
                                                           bool check) {
    const auto& lock = job.plan.lock;
    std::map<std::string, std::set<std::string>> wanted;
    for (const auto& image : job.plan.images) {
        if (!job.plan.is_chosen(image)) continue;
        for (const auto& reference : image.references()) {
            if (check || lock.registry_base(reference) == nullptr || scope.reference(reference))
                wanted[reference].emplace(oci_architecture(image.arch));
        }
    }
    // Verdicts that `run` is not to move stand on what is recorded.
    if (!check && lock.verdicts) return wanted;
    for (auto& name : named_images(job)) {
        if (check || (lock.configuration(name) == nullptr && lock.registry_base(name) == nullptr))
            wanted.try_emplace(std::move(name));
    }
    return wanted;
}

}  // namespace

std::vector<std::string> named_images(const Job& job) {
    std::set<std::string> names;
    const auto chosen = chosen_cells(job.plan);
    for (const auto& cell : job.input.judgement.cells) {
        if (!chosen.contains(cell.id)) continue;
        const auto* value = cell.cell.get(Field::image);
        auto name = value == nullptr ? std::nullopt : name_in_lock(value->text);
        if (name) names.insert(*std::move(name));
    }
    return {names.begin(), names.end()};
}

Result<RegistryBases> resolve_bases(Job& job, const LockScope& scope, bool check,
                                    const TakenBases& optional) {
    const auto wanted = wanted_images(job, scope, check);
    RegistryBases out;
    if (wanted.empty()) return out;
    CM_TRY_ASSIGN(auto http, Http::open(http_options(job)));
    Asker asker(*http, job, scope);
    std::size_t number = 0;
    for (const auto& [reference, architectures] : wanted) {
        job.progress.say(
            fmt::format("[base {}/{}] {}: asking its registry", ++number, wanted.size(), reference));
        const auto findings = static_cast<std::ptrdiff_t>(out.findings.size());
        auto done = asker.ask(reference, architectures, out);
        const bool lost =
            done.ok() ? out.out_of_reach.contains(reference) : done.failure().code == ExitCode::environment;
        if (lost && optional.contains(reference)) {
            out.left.emplace(reference, done.ok() ? out.findings.back().message
                                                  : done.failure().diagnostics.front().message);
            out.findings.erase(out.findings.begin() + findings, out.findings.end());
            out.out_of_reach.erase(reference);
            continue;
        }
        if (done.ok()) continue;
        const bool is_base = !architectures.empty();
        if (done.failure().code == ExitCode::interrupted) return done.failure();
        if (!is_base) {
            say_unknown(job, reference, done.failure());
            continue;
        }
        if (done.failure().code != ExitCode::environment) return done.failure();
        if (job.plan.lock.registry_base(reference) == nullptr) out.out_of_reach.insert(reference);
        out.unreached.emplace(reference, done.failure());
    }
    return out;
}

}  // namespace cudamatrix::job

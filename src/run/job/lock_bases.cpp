#include "run/job/lock.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "registry/http.hpp"
#include "registry/oci.hpp"

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

class Asker {
  public:
    Asker(Http& http, const Job& job, const LockScope& scope)
        : client_(http), lock_(job.plan.lock), scope_(scope), matrix_(job.input.matrix) {}

    Status ask(const std::string& text, const std::set<std::string>& architectures, RegistryBases& out) {
        CM_TRY_ASSIGN(const auto reference, parse_image_reference(text));
        CM_TRY_ASSIGN(const auto place, place_of(reference, matrix_.mirrors));
        host_ = place.reference.host;
        const auto* known = lock_.registry_base(text);
        return known != nullptr && !scope_.reference(text) ? compare(reference, known->digest, out)
                                                           : take(reference, known, architectures, out);
    }

  private:
    // What is pinned stays; a tag that has gone elsewhere is a finding.
    Status compare(const ImageReference& reference, const std::string& pinned, RegistryBases& out) {
        out.references[reference.text()] = {pinned};
        CM_TRY_ASSIGN(const auto now, client_.digest_of_tag(reference));
        if (now == pinned) return Done{};
        auto by_digest = reference;
        by_digest.digest = pinned;
        CM_TRY_ASSIGN(const auto kept, client_.find(by_digest));
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
            now ? fmt::format("cudamatrix lock --update={} {}", reference.text(), matrix_.path)
                : std::string("choose a tag that there is, or a mirror that keeps it: "
                              "mirrors: {docker.io: HOST/PATH}")));
        return Done{};
    }

    Status take(const ImageReference& reference, const RegistryBase* known,
                const std::set<std::string>& architectures, RegistryBases& out) {
        CM_TRY_ASSIGN(const auto manifest, client_.find(reference));
        if (!manifest) {
            CM_TRY(can_stay(reference, known, out));
            auto finding = Diagnostic::error(fmt::format(
                "{}: the registry {} has no such tag{}", reference.text(), host_,
                known == nullptr ? "" : fmt::format(" now: {} pins {}", kLockFile, known->digest)));
            out.findings.push_back(std::move(finding).with_fix(
                "choose a tag that there is, or a mirror that has it: mirrors: {docker.io: HOST/PATH}"));
            return Done{};
        }
        bool fits = true;
        for (const auto& architecture : architectures) {
            if (!manifest->is_index()) continue;
            const auto image = image_in_index(*manifest, reference.text(), architecture);
            if (image.ok()) continue;
            out.findings.push_back(image.failure().diagnostics.front());
            fits = false;
        }
        if (!fits) return can_stay(reference, known, out);
        out.references[reference.text()] = {manifest->digest};
        return Done{};
    }

    // Whether what is pinned can take the place of what the tag does not give.
    Status can_stay(const ImageReference& reference, const RegistryBase* known, RegistryBases& out) {
        if (known != nullptr) {
            auto by_digest = reference;
            by_digest.digest = known->digest;
            CM_TRY_ASSIGN(const auto kept, client_.find(by_digest));
            if (kept) return Done{};
        }
        out.out_of_reach.insert(reference.text());
        return Done{};
    }

    OciClient client_;
    const Lock& lock_;
    const LockScope& scope_;
    const Matrix& matrix_;
    std::string host_;
};

}  // namespace

Result<RegistryBases> resolve_bases(Job& job, const LockScope& scope, bool check) {
    const auto& lock = job.plan.lock;
    const auto& matrix = job.input.matrix;
    std::map<std::string, std::set<std::string>> wanted;
    for (const auto& image : job.plan.images) {
        for (const auto& reference : image.references()) {
            if (check || lock.registry_base(reference) == nullptr || scope.reference(reference))
                wanted[reference].emplace(oci_architecture(image.arch));
        }
    }
    RegistryBases out;
    if (wanted.empty()) return out;
    HttpOptions options;
    options.environment = job.settings.environment;
    if (!matrix.build.netrc.empty()) options.environment["NETRC"] = matrix.build.netrc;
    options.ca_bundle = matrix.build.ca_bundle;
    options.ca_advice =
        "name the site's certificates: build: {ca_bundle: FILE} in the matrix file, or --ca-bundle";
    options.mirrors = matrix.mirrors;
    options.cancellation = job.settings.cancellation;
    CM_TRY_ASSIGN(auto http, Http::open(std::move(options)));
    Asker asker(*http, job, scope);
    std::size_t number = 0;
    for (const auto& [reference, architectures] : wanted) {
        job.progress.say(
            fmt::format("[base {}/{}] {}: asking its registry", ++number, wanted.size(), reference));
        auto done = asker.ask(reference, architectures, out);
        if (done.ok()) continue;
        if (done.failure().code != ExitCode::environment) return done.failure();
        if (lock.registry_base(reference) == nullptr) out.out_of_reach.insert(reference);
        out.unreached.emplace(reference, done.failure());
    }
    return out;
}

}  // namespace cudamatrix::job

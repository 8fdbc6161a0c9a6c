#include "run/job/registry_bases.hpp"

#include <optional>
#include <set>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "registry/http.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::job {
namespace {

class Asker {
  public:
    Asker(Http& http, const Lock& lock, const LockScope& scope, const RunInput& input)
        : client_(http), lock_(lock), scope_(scope), input_(input) {}

    Status ask(const std::string& text, const std::set<std::string>& architectures, RegistryBases& out) {
        CM_TRY_ASSIGN(const auto reference, parse_image_reference(text));
        CM_TRY_ASSIGN(const auto place, place_of(reference, input_.matrix.mirrors));
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
            now ? fmt::format("cudamatrix lock --update={} {}", reference.text(), input_.matrix.path)
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
    const RunInput& input_;
    std::string host_;
};

}  // namespace

Result<RegistryBases> resolve_bases(const std::vector<Image>& images, const Lock& lock,
                                    const LockScope& scope, bool check, const RunInput& input,
                                    const RunSettings& settings, Ticker& ticker) {
    std::map<std::string, std::set<std::string>> wanted;
    for (const auto& image : images) {
        for (const auto& reference : image.references()) {
            if (check || lock.registry_base(reference) == nullptr || scope.reference(reference))
                wanted[reference].emplace(oci_architecture(image.arch));
        }
    }
    RegistryBases out;
    if (wanted.empty()) return out;
    HttpOptions options;
    options.environment = settings.environment;
    if (!input.matrix.build.netrc.empty()) options.environment["NETRC"] = input.matrix.build.netrc;
    options.ca_bundle = input.matrix.build.ca_bundle;
    options.ca_advice =
        "name the site's certificates: build: {ca_bundle: FILE} in the matrix file, or --ca-bundle";
    options.mirrors = input.matrix.mirrors;
    options.cancellation = settings.cancellation;
    CM_TRY_ASSIGN(auto http, Http::open(std::move(options)));
    Asker asker(*http, lock, scope, input);
    std::size_t number = 0;
    for (const auto& [reference, architectures] : wanted) {
        ticker.say(fmt::format("[base {}/{}] {}: asking its registry", ++number, wanted.size(), reference));
        auto done = asker.ask(reference, architectures, out);
        if (done.ok()) continue;
        if (done.failure().code != ExitCode::environment) return done.failure();
        if (lock.registry_base(reference) == nullptr) out.out_of_reach.insert(reference);
        out.unreached.emplace(reference, done.failure());
    }
    return out;
}

}  // namespace cudamatrix::job

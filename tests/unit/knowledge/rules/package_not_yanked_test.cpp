// Releases that were taken back (PEP 592): the rule, and what the helpers of other rules offer in their
// place.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "knowledge/facts/companions.hpp"
#include "knowledge/facts/lookup.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kId = "package-not-yanked";

Words packages(std::string_view text) {
    return {{Field::packages, std::string(text)}};
}

Words with_torch(std::string_view torch, std::string_view arch = "x86_64") {
    return {{Field::torch, std::string(torch)}, {Field::arch, std::string(arch)}};
}

// A release of a package of the test's own.
std::string acme(std::string_view version, std::string_view more) {
    return fmt::format("id: package-acme-{0}, package: acme, version: \"{0}\", {1}", version, more);
}

// torch 2.5.1 as if it had been yanked.
const std::string kYankedTorch =
    "id: package-torch-2.5.1, package: torch, version: \"2.5.1\", requires: [\"triton ==3.1.0\"], yanked: "
    "true";

}  // namespace

TEST_CASE("package-not-yanked warns of a release that was taken back") {
    const auto words = packages("transformers=4.57.0,accelerate=1.0.1");
    CHECK(
        message_of(kId, words) ==
        "transformers 4.57.0 was yanked, its author took it back (\"Error in the setup causing installation "
        "issues\"): pip installs it, with a warning, only where exactly that release is pinned");
    // Not every author says why.
    CHECK(message_of(kId, packages("transformers=4.52.0")) ==
          "transformers 4.52.0 was yanked, its author took it back: pip installs it, with a warning, only "
          "where exactly that release is pinned");
    CHECK(fix_of(kId, words) == "transformers 4.57.1");
    const auto findings = ask(kId, words);
    REQUIRE(findings.size() == 1);
    CHECK(findings.front().verdict() == Verdict::degraded);
    CHECK(findings.front().stage == Stage::install);
    REQUIRE(findings.front().facts.size() == 1);
    CHECK(findings.front().facts.front().id == "package-transformers-4.57.0");
    CHECK(findings.front().facts.front().confidence == Confidence::measured);
    // A version is compared by its value, and each package is asked about.
    CHECK(message_of(kId, packages("numpy=2.4")).starts_with("numpy 2.4 was yanked, "));
    CHECK(ask(kId, packages("numpy=2.4.0,transformers=4.57.0")).size() == 2);
}

TEST_CASE("package-not-yanked accepts what was not") {
    for (const auto* text :
         {"transformers=4.57.1", "transformers=4.57.1,numpy=2.4.1", "torchvision=0.15.1", "torchvision=auto",
          // A build for one CUDA is a file of another index.
          "torchvision=0.15.0+cu118",
          // packages-agree says that these are not known.
          "transformers=4.99.9", "our-own-tools=1.2"}) {
        CAPTURE(text);
        CHECK(ask(kId, packages(text)).empty());
    }
    CHECK(ask(kId, with_torch("2.5.1")).empty());
    CHECK(ask(kId, with_torch("none")).empty());
    CHECK(ask(kId, with_torch("9.9.9")).empty());
    const auto facts = with_rows("package_releases", {acme("1.0", "abi: [py3], yanked: false")});
    CHECK(ask(kId, packages("acme=1.0"), facts).empty());
}

TEST_CASE("package-not-yanked does not know what is not verified") {
    const auto facts = with_rows(
        "package_releases",
        {acme("1.0", "abi: [py3], yanked: true, confidence: unverified"), acme("1.1", "abi: [py3]")});
    CHECK(verdict_of(kId, packages("acme=1.0"), facts) == Verdict::unknown);
    CHECK(verdict_of(kId, packages("acme=1.1"), facts) == Verdict::accepted);
}

TEST_CASE("package-not-yanked: the nearest release that was kept, newer before older, else none of it") {
    const auto facts = with_rows("package_releases",
                                 {acme("1.0", "abi: [py3]"), acme("1.1", "abi: [py3], yanked: true"),
                                  acme("1.2", "abi: [py3], yanked: true"), acme("1.3", "abi: [py3]"),
                                  acme("1.4", "abi: [py3], yanked: true"),
                                  "id: package-gone-1.0, package: gone, version: \"1.0\", yanked: true",
                                  "id: package-gone-1.1, package: gone, version: \"1.1\", yanked: true"});
    CHECK(fix_of(kId, packages("acme=1.1"), facts) == "acme 1.3");
    CHECK(fix_of(kId, packages("acme=1.4"), facts) == "acme 1.3");
    CHECK(fix_of(kId, packages("gone=1.0,acme=1.0"), facts) == "leave gone out");
}

TEST_CASE("package-not-yanked: the build of torch that the default index has") {
    const auto facts = with_rows("package_releases", {kYankedTorch});
    CHECK(message_of(kId, with_torch("2.5.1"), facts).starts_with("torch 2.5.1 was yanked, "));
    CHECK(fix_of(kId, with_torch("2.5.1"), facts) == "torch 2.6.0, or torch 2.5.0");
    CHECK(fix_of(kId, with_torch("2.5.1+cu124"), facts) == "torch 2.6.0+cu124, or torch 2.5.0+cu124");
    CHECK(ask(kId, with_torch("2.5.1+cu118"), facts).empty());
    // A minor is judged as what pip takes for it.
    CHECK(lookup::torch(Facts::embedded(), "2.5", "x86_64")->exact.text() == "2.5.1");
    CHECK(lookup::torch(facts, "2.5", "x86_64")->exact.text() == "2.5.0");
    CHECK(lookup::torch(facts, "2.5.1", "x86_64")->exact.text() == "2.5.1");
    CHECK(ask(kId, with_torch("2.5"), facts).empty());
}

TEST_CASE("no rule offers a release that was yanked where there is another") {
    const auto offered = [](std::string_view last) {
        const auto facts = with_rows(
            "package_releases",
            {acme("1.0", "abi: [cp38]"), acme("1.1", "abi: [cp312], yanked: true"), acme("1.2", last)});
        for (const auto& finding : ask("package-supports-python",
                                       {{Field::python, "3.12"}, {Field::packages, "acme=1.0"}}, facts)) {
            if (!finding.fixes.empty()) return finding.fixes.front().text;
        }
        return std::string("(none)");
    };
    CHECK(offered("abi: [cp312]") == "acme 1.2");
    CHECK(offered("abi: [cp38]") == "acme 1.1");

    // The nearest that is known.
    const auto near = with_rows("package_releases",
                                {acme("1.0", "requires: []"), acme("1.1", "requires: [], yanked: true")});
    CHECK(fix_of("packages-agree", packages("acme=1.5"), near) == "acme 1.0 (then accepted)");
    CHECK(fix_of("packages-agree", packages("acme=0.5"), near) == "acme 1.0 (then accepted)");
}

TEST_CASE("no rule offers a torch that was yanked where there is another") {
    // What packages-agree offers for a package with that demand.
    const auto offered = [](std::string_view torch, std::string_view demand, bool yanked) {
        std::vector<std::string> rows{
            acme("1.0", fmt::format("abi: [py3], requires: [\"torch {}\"]", demand))};
        if (yanked) rows.push_back(kYankedTorch);
        for (const auto& finding :
             ask("packages-agree", {{Field::torch, std::string(torch)}, {Field::packages, "acme=1.0"}},
                 with_rows("package_releases", rows))) {
            std::string out;
            for (const auto& option : finding.fixes) {
                if (option.text.starts_with("torch ")) out += option.text + "\n";
            }
            return out;
        }
        return std::string("(none)");
    };
    CHECK(offered("2.4.1", ">=2.5.1", false) == "torch 2.5.1\n");
    CHECK(offered("2.4.1", ">=2.5.1", true) == "torch 2.6.0\n");
    CHECK(offered("2.6.0", "<=2.5.1", false) == "torch 2.5.1\n");
    CHECK(offered("2.6.0", "<=2.5.1", true) == "torch 2.5.0\n");
    constexpr std::string_view either = "!=2.4.*,!=2.5.0,<=2.5.1";
    CHECK(offered("2.4.1", either, false) == "torch 2.5.1\ntorch 2.3.1\n");
    CHECK(offered("2.4.1", either, true) == "torch 2.3.1\n");
    CHECK(offered("2.4.1", "==2.5.1", true) == "torch 2.5.1\n");
}

TEST_CASE("what goes with a torch is a release that was kept") {
    const auto torch = *Version::parse("2.0.0");
    CHECK(lookup::torch_companion(Facts::embedded(), "torchvision", torch)->text("version") == "0.15.1");
    const auto facts = with_rows(
        "package_releases",
        {"id: package-torchvision-0.15.1, package: torchvision, version: \"0.15.1\", yanked: true",
         "id: package-torchvision-0.15.0, package: torchvision, version: \"0.15.0\"",
         "id: package-numpy-2.4.1, package: numpy, version: \"2.4.1\", abi: [cp399]",
         "id: package-numpy-2.4.2, package: numpy, version: \"2.4.2\", abi: [cp399], yanked: true",
         "id: package-numpy-2.4.3, package: numpy, version: \"2.4.3\", abi: [cp398], yanked: true"});
    CHECK(lookup::torch_companion(facts, "torchvision", torch)->text("version") == "0.15.0");
    const auto numpy = [&](std::string_view python) {
        return std::string(lookup::numpy_companion(facts, python, *Version::parse("2.6.0"))->text("version"));
    };
    CHECK(numpy("3.99") == "2.4.1");
    CHECK(numpy("3.98") == "2.4.3");
}

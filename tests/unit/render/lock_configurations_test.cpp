#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "render/lock/lock_file.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

const std::string kApp = "registry.example.org/team/app:1";
const std::string kCuda = "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04";
const std::string kDigest = "sha256:" + std::string(64, '1');

std::string digest(char digit) {
    return "sha256:" + std::string(64, digit);
}

Lock configured() {
    Lock lock;
    lock.configurations[kApp] = {digest('1'), "2026-11-21", {"x86_64", "aarch64"}, "12.4.1", "cuda>=12.4"};
    lock.configurations[kCuda] = {digest('2'), "2026-11-22", {"x86_64"}};
    return lock;
}

std::string refused_configuration(std::string_view from, std::string_view to) {
    const auto text = lock_text(configured());
    REQUIRE_MESSAGE(text.find(from) != std::string::npos, from);
    const auto lock = parse_lock(text::replace_all(text, from, to), "l");
    REQUIRE_FALSE_MESSAGE(lock.ok(), to);
    CHECK(lock.failure().code == ExitCode::bad_input);
    return text::replace_all(lock.failure().diagnostics.front().message, "l is not a lock file: ", "");
}

std::string condition_in(const Facts& facts, std::string_view image) {
    const auto row = lookup::other_image(facts, lookup::image_reference(image));
    return row ? std::string(row->text("requires")) : "no row";
}

}  // namespace

TEST_CASE("configurations in a lock: read back as they were written; the key is absent without any") {
    const auto text = lock_text(configured());
    CHECK(
        text.find(
            "  \"configurations\": {\n    \"" + kCuda + "\": {\n      \"digest\": \"" + digest('2') +
            "\",\n      \"as_of\": \"2026-11-22\",\n      \"arch\": [\n        \"x86_64\"\n      ]\n    },") !=
        std::string::npos);
    const auto back = parse_lock(text, "l");
    REQUIRE(back.ok());
    CHECK(*back == configured());
    CHECK(lock_text(*back) == text);
    CHECK(lock_text(Lock{}).find("configurations") == std::string::npos);
    const auto old = parse_lock(lock_text(Lock{}), "l");
    REQUIRE(old.ok());
    CHECK(old->configurations.empty());
}

TEST_CASE("configurations in a lock: what rules could not rely on is refused") {
    const auto of_app = " (configuration of " + kApp + ")";
    CHECK(refused_configuration(digest('1'), "sha256:1") == "\"sha256:1\" is not an image digest" + of_app);
    CHECK(refused_configuration("\"digest\": \"" + digest('1') + "\"", "\"digest\": 1") ==
          "a text is missing: digest" + of_app);
    for (const char* bad : {"", "today", "2026-02-30", "2026-11-21T00:00:00Z", "2026-11-21\\n"})
        CHECK(refused_configuration("2026-11-21", bad).ends_with("is not a date" + of_app));
    CHECK(refused_configuration("\"as_of\": \"2026-11-21\"", "\"on\": \"2026-11-21\"") ==
          "a text is missing: as_of" + of_app);
    for (const char* bad : {"amd64", "X86_64", "", "x86_64", "riscv64", "aarch64 "})
        CHECK(refused_configuration("\"aarch64\"", "\"" + std::string(bad) + "\"")
                  .ends_with("is not a processor, or one that is there twice" + of_app));
    for (const char* bad : {"1", "null", "[]", "{}"})
        CHECK(refused_configuration("\"aarch64\"", bad) ==
              "\"\" is not a processor, or one that is there twice" + of_app);
    CHECK(refused_configuration("\"arch\": [\n        \"x86_64\",\n        \"aarch64\"\n      ]",
                                "\"arch\": []") == "it is for no processor" + of_app);
    CHECK(refused_configuration("\"arch\": [\n        \"x86_64\",", "\"arch\": {}, \"x\": [\"x86_64\",") ==
          "a list is missing: arch" + of_app);
    for (const char* bad : {"12", "banana", "12.4.1-rc", "12.4.1 ", ">=12.4", "99999999999.1.2"})
        CHECK(refused_configuration("\"12.4.1\"", "\"" + std::string(bad) + "\"") ==
              "\"" + std::string(bad) + "\" is not a version of CUDA" + of_app);
    CHECK(refused_configuration("\"12.4.1\"", "12.4") == "a text is missing: cuda" + of_app);
    for (const char* bad : {"cuda>=12.4 && $(x)", "cuda>=12.4\\n", "\\u001b[31m", "cud\xc3\xa9"})
        CHECK(refused_configuration("cuda>=12.4", bad).ends_with("is not a condition" + of_app));
    CHECK(refused_configuration("cuda>=12.4", std::string(5000, 'a')) ==
          "\"" + std::string(200, 'a') + "\" is not a condition" + of_app);
    CHECK(refused_configuration("\"requires\": \"cuda>=12.4\"", "\"requires_aarch64\": \"$(x)\"") ==
          "\"$(x)\" is not a condition" + of_app);
    CHECK(refused_configuration("\"requires\": \"cuda>=12.4\"", "\"requires_aarch64\": 1") ==
          "a text is missing: requires_aarch64" + of_app);
    CHECK(refused_configuration("\"cuda>=12.4\"", "[\"cuda>=12.4\"]") ==
          "a text is missing: requires" + of_app);
}

TEST_CASE("configurations in a lock: a key is the one name of an image") {
    for (const char* bad : {"team/app:1", "app", "registry.example.org/team/app",
                            "registry.example.org/TEAM/app:1", "", "registry.example.org/team/app:",
                            "registry.example.org/team/app:1 x", "registry.example.org/$(id):1",
                            "registry.example.org/team/app@sha256:1", "Registry.example.org/team/app:1"})
        CHECK(refused_configuration(kApp, bad) == fmt::format("\"{}\" is not an image reference", bad));
    CHECK(refused_configuration(kApp, kApp + "@" + kDigest) ==
          "\"" + kApp + "@" + kDigest + "\" is not an image reference");
    for (const char* bad : {"1", "null", "[]", "\"x\""})
        CHECK(refused_configuration("\"configurations\": {",
                                    "\"configurations\": " + std::string(bad) + ", \"was\": {") ==
              "an object is missing: configurations");
    CHECK(parse_lock(text::replace_all(lock_text(configured()), kApp, "localhost:5000/a@" + kDigest), "l")
              .ok());
    for (const char* bad : {"1", "null", "[]", "\"x\""}) {
        const auto lock = parse_lock(
            text::replace_all(lock_text(Lock{}), "\"images\": {}",
                              "\"images\": {}, \"configurations\": {\"" + kApp + "\": " + bad + "}"),
            "l");
        REQUIRE_FALSE(lock.ok());
        CHECK(lock.failure().diagnostics.front().message ==
              "l is not a lock file: a text is missing: digest (configuration of " + kApp + ")");
    }
}

TEST_CASE("configurations in a lock: how an image is named") {
    CHECK(name_in_lock("app") == "docker.io/library/app:latest");
    CHECK(name_in_lock("nvidia/cuda:12.4.1-base-ubuntu22.04") == kCuda);
    CHECK(name_in_lock("localhost:5000/a") == "localhost:5000/a:latest");
    CHECK(name_in_lock(kApp + "@" + kDigest) == "registry.example.org/team/app@" + kDigest);
    for (const char* bad : {"", "A", "a:", "a@sha256:1", "a b", "a:1@"})
        CHECK_FALSE(name_in_lock(bad));
}

TEST_CASE("configurations in a lock: what changed is a line each, and a base is said once") {
    using Lines = std::vector<std::string>;
    CHECK(lock_changes(configured(), configured()).empty());
    CHECK(lock_changes(Lock{}, configured()) ==
          Lines{kCuda + ": configuration of " + digest('2') + " recorded",
                kApp + ": configuration of " + digest('1') + " recorded"});
    CHECK(lock_changes(configured(), Lock{}) ==
          Lines{kCuda + ": configuration no longer recorded", kApp + ": configuration no longer recorded"});
    auto pinned = configured();
    pinned.references[kCuda] = {digest('2')};
    auto before = configured();
    before.configurations.erase(kCuda);
    CHECK(lock_changes(before, pinned) == Lines{kCuda + ": " + digest('2') + " pinned"});
    before.references = pinned.references;
    CHECK(lock_changes(before, pinned) == Lines{kCuda + ": configuration of " + digest('2') + " recorded"});
    auto now = pinned;
    now.references[kCuda] = {digest('3')};
    now.configurations[kCuda].digest = digest('3');
    now.configurations[kApp] = {
        digest('4'), "2026-11-23", {"x86_64"}, "", "cuda>=12.4 " + std::string(60, 'a')};
    CHECK(lock_changes(pinned, now) ==
          Lines{kCuda + ": digest " + digest('2') + " -> " + digest('3'), kApp + ": CUDA 12.4.1 -> none",
                kApp + ": architectures x86_64, aarch64 -> x86_64",
                kApp + ": digest " + digest('1') + " -> " + digest('4'),
                kApp + ": requirement cuda>=12.4 -> cuda>=12.4 " + std::string(49, 'a') + "..."});
    auto longer = now;
    longer.configurations[kApp].condition += "b";
    CHECK(lock_changes(now, longer).size() == 1);
}

TEST_CASE("configurations in a lock are facts, which leave the others and their hash as they are") {
    const auto known = Facts::embedded();
    const auto facts = with_configurations(known, configured());
    CHECK(condition_in(known, kApp) == "no row");
    CHECK(condition_in(facts, kApp) == "cuda>=12.4");
    CHECK(condition_in(facts, "nvidia/cuda:12.4.1-base-ubuntu22.04").empty());
    CHECK(condition_in(facts, "registry.example.org/team/app:2") == "no row");
    CHECK(condition_in(facts, kApp + "@" + kDigest) == "no row");
    const auto row = facts.row("other-image-" + kApp);
    REQUIRE(row);
    CHECK(row->ref().sources == std::vector<std::string>{"image:" + kApp + " " + digest('1')});
    CHECK(row->ref().as_of == "2026-11-21");
    CHECK(row->confidence() == Confidence::measured);
    CHECK(row->text("cuda") == "12.4.1");
    CHECK(facts.check("2026-12-01").size() == known.check("2026-12-01").size());
    CHECK(facts.hash() == known.hash());
    CHECK(facts.date() == known.date());
    CHECK(facts.laid_over().empty());
    auto by_digest = Lock{};
    by_digest.configurations["registry.example.org/team/app@" + kDigest] = {
        kDigest, "2026-11-21", {"x86_64"}, "", "cuda>=12.2"};
    CHECK(condition_in(with_configurations(known, by_digest), kApp + "@" + kDigest) == "cuda>=12.2");
    CHECK(with_configurations(known, by_digest).check("2026-12-01").size() ==
          known.check("2026-12-01").size());
    by_digest.configurations.begin()->second.condition_aarch64 = "none";
    const auto back = parse_lock(lock_text(by_digest), "l");
    REQUIRE(back.ok());
    CHECK(*back == by_digest);
    const auto both = with_configurations(known, by_digest);
    CHECK(both.rows("other_images").back().text("requires_aarch64") == "none");
    // A second lock in place of the first, as `lock` itself lays what it has just read.
    auto newer = configured();
    newer.configurations[kApp].condition = "cuda>=12.8";
    const auto twice = with_configurations(facts, newer);
    CHECK(condition_in(twice, kApp) == "cuda>=12.8");
    CHECK(twice.hash() == known.hash());
    CHECK(condition_in(facts, kApp) == "cuda>=12.4");
    CHECK(condition_in(with_configurations(facts, Lock{}), kApp) == "no row");
}

TEST_CASE("configurations in a lock: what a folder of facts says of the image comes before them") {
    const test::TempFolder folder;
    folder.put("mine.yaml", "table: other_images\nas_of: \"2026-11-20\"\nrows:\n  - {id: \"other-image-" +
                                kApp + "\", image: \"" + kApp +
                                "\", arch: [x86_64], requires: \"cuda>=11.0\", source: "
                                "\"https://example.org/\", confidence: read}\n");
    const auto mine = Facts::with_overlay(folder.path(), "2026-12-01");
    REQUIRE(mine.ok());
    const auto facts = with_configurations(*mine, configured());
    CHECK(condition_in(facts, kApp) == "cuda>=11.0");
    CHECK(condition_in(facts, kCuda).empty());
    CHECK(facts.hash() == mine->hash());
    CHECK(facts.laid_over().size() == 1);
}

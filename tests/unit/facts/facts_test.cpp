// The embedded tables: their self-check (every row sourced, dated, sorted, consistent), their hash and their
// date.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text.hpp"
#include "base/version.hpp"
#include "facts/facts.hpp"
#include "facts/schema.hpp"
#include "folders.hpp"

using namespace cudamatrix;

TEST_CASE("every embedded row passes the self-check") {
    const auto facts = Facts::embedded();
    const auto mistakes = facts.check();
    for (const auto& mistake : mistakes)
        MESSAGE(render(mistake, {}));
    CHECK(mistakes.empty());

    std::size_t rows = 0, unverified = 0;
    for (const auto& table : facts.tables()) {
        for (const auto& row : table.rows) {
            ++rows;
            const auto ref = row.ref();
            CHECK(!ref.sources.empty());
            CHECK(facts::is_date(ref.as_of));
            if (ref.confidence == Confidence::unverified) ++unverified;
        }
    }
    MESSAGE(fmt::format("{} rows in {} tables, {} unverified", rows, facts.tables().size(), unverified));
    CHECK(rows > 500);
    CHECK(unverified < rows / 20);
}

TEST_CASE("every table of the schema is embedded, and nothing else") {
    const auto facts = Facts::embedded();
    CHECK(facts.tables().size() == facts::all_schemas().size());
    for (const auto& schema : facts::all_schemas())
        CHECK(facts.table(schema.table) != nullptr);
}

TEST_CASE("rows are found by id and keep their columns") {
    const auto facts = Facts::embedded();
    const auto family = facts.row("cuda-family-12");
    REQUIRE(family);
    CHECK(family->text("min_driver_linux") == "525.60.13");
    CHECK(family->ref().id == "cuda-family-12");
    CHECK(!family->ref().sources.empty());
    CHECK(family->text("no_such_column").empty());
    CHECK(family->list("no_such_column").empty());
    CHECK(!family->has("no_such_column"));
    CHECK_FALSE(facts.row("cuda-family-99"));
    CHECK(facts.table("no_such_table") == nullptr);
}

TEST_CASE("hash and date are stable") {
    const auto facts = Facts::embedded();
    CHECK(facts.hash() == Facts::embedded().hash());
    CHECK(facts.hash().size() == 12);
    CHECK(facts::is_date(facts.date()));
}

TEST_CASE("the embedded tables are the files, byte for byte in meaning") {
    const auto overlaid = Facts::with_overlay(std::string(source_dir()) + "/matrix/facts");
    REQUIRE(overlaid);
    CHECK(overlaid->hash() == Facts::embedded().hash());
}

TEST_CASE(
    "driver branches: in order, apart from each other, and none runs an older CUDA than the one before") {
    std::optional<Version> number, newest, cuda, isa;
    const auto facts = Facts::embedded();
    for (const auto& row : facts.table("driver_branches")->rows) {
        CAPTURE(std::string(row.id()));
        const auto branch = Version::parse(row.text("branch"));
        REQUIRE(branch);
        CHECK((!number || *number < *branch));
        number = branch;
        for (const auto* end : {"oldest", "newest"}) {
            const auto release = Version::parse(row.text(end));
            if (!release) continue;
            CHECK(release->major() == branch->major());
            CHECK((!newest || *newest <= *release));  // the oldest follows the newest of the branch before
            newest = release;
        }
        if (const auto native = Version::parse(row.text("cuda"))) {
            CHECK((!cuda || *cuda < *native));
            cuda = native;
        }
        if (const auto ptx = Version::parse(row.text("ptx_isa"))) {
            CHECK((!isa || *isa <= *ptx));
            isa = ptx;
        }
    }
}

TEST_CASE("a wheel index stands at an address that ends in its name") {
    std::size_t known = 0;
    const auto facts = Facts::embedded();
    for (const auto& row : facts.rows("wheel_indexes")) {
        CAPTURE(std::string(row.id()));
        if (!row.has("url")) continue;
        ++known;
        CHECK(row.text("url").ends_with(fmt::format("/{}", row.text("name"))));
    }
    CHECK(known > 10);
}

TEST_CASE("every CUDA minor between the first and the last of its major is there or was never released") {
    const auto facts = Facts::embedded();
    std::map<std::uint32_t, std::set<std::uint32_t>> minors;
    for (const auto& row : facts.table("cuda_toolkits")->rows) {
        const auto cuda = Version::parse(row.text("cuda"));
        REQUIRE(cuda);
        minors[cuda->major()].insert(cuda->minor());
        CHECK(facts.row(fmt::format("cuda-{}", row.text("newest"))));
        std::optional<Version> newest;
        for (const auto& release : facts.rows("cuda_releases")) {
            if (release.text("minor") != row.text("cuda")) continue;
            const auto version = Version::parse(release.text("cuda"));
            if (version && (!newest || *newest < *version)) newest = version;
        }
        CHECK(row.text("newest") == (newest ? newest->text() : std::string()));
    }
    for (const auto& row : facts.table("cuda_families")->rows) {
        for (const auto text : row.list("skipped")) {
            const auto skipped = Version::parse(text);
            REQUIRE(skipped);
            CHECK(std::to_string(skipped->major()) == row.text("major"));
            CHECK(minors[skipped->major()].insert(skipped->minor()).second);  // either there or skipped
        }
    }
    CHECK(minors.size() == 6);  // 8 to 13
    for (const auto& each : minors) {
        const auto& known = each.second;
        CAPTURE(each.first);
        CHECK(*known.begin() == 0);
        CHECK(*known.rbegin() + 1 == known.size());
    }
}

TEST_CASE("compat libraries are not for newer branches, and a defect's repair comes after it") {
    const auto facts = Facts::embedded();
    for (const auto& row : facts.table("forward_compatibility")->rows) {
        const auto cuda = Version::parse(row.text("cuda"));
        for (const auto branch : row.list("branches")) {
            CAPTURE(std::string(row.id()) + " " + std::string(branch));
            const auto native = Version::parse(facts.row(fmt::format("driver-r{}", branch))->text("cuda"));
            CHECK((!native || *native <= *cuda));
        }
    }
    for (const auto& row : facts.table("known_defects")->rows) {
        CAPTURE(std::string(row.id()));
        CHECK(*Version::parse(row.text("first")) <= *Version::parse(row.text("last")));
        if (row.has("fixed_in"))
            CHECK(*Version::parse(row.text("last")) < *Version::parse(row.text("fixed_in")));
    }
}

TEST_CASE("the cards that are called RTX 6000 are four, and a part of a name is none") {
    const auto facts = Facts::embedded();
    CHECK(facts.named("Quadro RTX 6000")->text("compute") == "7.5");
    CHECK(facts.named("RTX A6000")->text("compute") == "8.6");
    CHECK(facts.named("NVIDIA RTX 6000 Ada Generation")->text("compute") == "8.9");
    CHECK(facts.named("NVIDIA RTX PRO 6000 Blackwell Workstation Edition")->text("compute") == "12.0");
    CHECK_FALSE(facts.named("RTX 6000"));
    CHECK(facts.table("gpus")->rows.size() >= 51);
}

#include "look/measure/toolkit.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "look/measure/rows.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

std::string rows_shown(const News& news) {
    std::string out;
    for (const auto& change : news.changes)
        out += fmt::format("{} {}: {} {}\n", change.project, change.version, to_string(change.kind),
                           change.detail);
    for (const auto& row : news.rows)
        out += yaml_line(row);
    for (const auto& line : news.not_measured)
        out += fmt::format("not measured: {}\n", line);
    return out;
}

std::string stanza(std::string_view package, std::string_view version) {
    return fmt::format("Package: {}\nArchitecture: amd64\nVersion: {}\nDepends: x\n\n", package, version);
}

}  // namespace

TEST_CASE("an archive as the facts know it is no news, and one without the package is") {
    const auto facts = Facts::embedded();
    const auto row = facts.row("toolkit-debian12-archive-11.8");
    REQUIRE(row.has_value());
    const auto version = row->text("package_version");
    CHECK(rows_shown(archive_news(stanza("other", "1") + stanza("nvidia-cuda-toolkit", version), "debian12",
                                  facts)) == "");
    CHECK(rows_shown(archive_news("", "debian12", facts)) ==
          fmt::format("nvidia-cuda-toolkit (debian12) {}: vanished \n", version));
    CHECK(rows_shown(archive_news("", "ubuntu24.04", facts)) == "");
}

TEST_CASE("another revision of the same CUDA") {
    const auto facts = Facts::embedded();
    const auto release = stanza("nvidia-cuda-toolkit", "11.8.89~11.8.0-9~deb12u2") +
                         stanza("nvidia-cuda-dev", "11.8.89~11.8.0-9~deb12u2") +
                         stanza("libcudart11.0", "11.8.89~11.8.0-9~deb12u2") +
                         stanza("libnvvm4", "11.8.89~11.8.0-9~deb12u2");
    const std::string change =
        "nvidia-cuda-toolkit (debian12) 11.8.89~11.8.0-9~deb12u2: replaced the facts have "
        "11.8.89~11.8.0-5~deb12u1\n";
    CHECK(rows_shown(archive_news(release, "debian12", facts)) ==
          change +
              "  - {id: toolkit-debian12-archive-11.8, family: \"debian\", os: \"debian12\", cuda: "
              "\"11.8.0\", cuda_from: \"archive\", package: \"nvidia-cuda-toolkit\", package_version: "
              "\"11.8.89~11.8.0-9~deb12u2\", unpack: [\"nvidia-cuda-toolkit\", \"nvidia-cuda-dev\", "
              "\"libcudart11.0\", \"libnvvm4\", \"libcu++-dev\", \"libcub-dev\", \"libthrust-dev\"], "
              "runtime: [\"libcudart11.0\"], note: \"read in the archive's list of packages; nothing was "
              "compiled with it\", source: \"https://packages.debian.org/bookworm/nvidia-cuda-toolkit\", "
              "confidence: read}\n");
}

TEST_CASE("another CUDA: its row takes the place of the one that is no longer true") {
    const auto facts = Facts::embedded();
    const std::string version = "12.8.93~12.8.1-3";
    const auto text = stanza("nvidia-cuda-toolkit", version) + stanza("nvidia-cuda-dev", version) +
                      stanza("libcudart13", "12.8.90~12.8.1-3") + stanza("libnvvm5", version) +
                      // Left over from the release before.
                      stanza("libcudart12", "12.4.127~12.4.1-2");
    const auto news = archive_news(text, "debian13", facts);
    REQUIRE(news.rows.size() == 1);
    const auto line = yaml_line(news.rows.front());
    CHECK(
        line.starts_with("  - {id: toolkit-debian13-archive-12.4, family: \"debian\", os: \"debian13\", "
                         "cuda: \"12.8.1\", "));
    CHECK(line.find("unpack: [\"nvidia-cuda-toolkit\", \"nvidia-cuda-dev\", \"libcudart13\", \"libnvvm5\", "
                    "\"libcu++-dev\", \"libcub-dev\", \"libthrust-dev\"], runtime: [\"libcudart13\"]") !=
          std::string::npos);

    // The overlay judges with it.
    test::TempFolder folder;
    const auto left_out = write_overlay(folder.path(), {compare(news.rows.front(), facts).row}, "2026-11-21");
    REQUIRE(left_out.ok());
    CHECK(left_out->empty());
    const auto overlaid = Facts::with_overlay(folder.path(), "2026-11-21");
    REQUIRE(overlaid.ok());
    const auto has = [&](const Facts& known, std::string_view cuda) {
        return lookup::toolkit_source(known, "debian", "debian13", *Version::parse(cuda), "archive")
            .has_value();
    };
    CHECK(has(facts, "12.4.1"));
    CHECK_FALSE(has(facts, "12.8.1"));
    CHECK_FALSE(has(*overlaid, "12.4.1"));
    CHECK(has(*overlaid, "12.8.1"));
    CHECK(rows_shown(archive_news(text, "debian13", *overlaid)) == "");
}

TEST_CASE("a version without a component of its own") {
    const auto news = archive_news(stanza("nvidia-cuda-toolkit", "11.4.3-1~bpo11+1") +
                                       stanza("libcudart11.0", "11.4.148~11.4.3-1~bpo11+1"),
                                   "debian11", Facts::embedded());
    REQUIRE(news.rows.size() == 1);
    const auto* cuda = news.rows.front().cell("cuda");
    REQUIRE(cuda != nullptr);
    CHECK(cuda->values.front() == "11.4.3");
}

TEST_CASE("what an archive does not tell gives no row") {
    const auto facts = Facts::embedded();
    const auto refused = [&](const std::string& text) {
        const auto news = archive_news(text, "debian11", facts);
        CHECK(news.rows.empty());
        CHECK(news.changes.size() == 1);
        return news.not_measured.size() == 1 ? news.not_measured.front() : std::string("(none)");
    };
    for (const std::string version :
         {"99", "11-2", "11.2.2.9-1", "11.2.2rc1-1", "~", "11.8.89~", "x~1.2.3-1x"}) {
        CAPTURE(version);
        const auto said = refused(stanza("nvidia-cuda-toolkit", version));
        if (version == "x~1.2.3-1x") continue;  // a component x of CUDA 1.2.3: its libcudart is missing
        CHECK(said == fmt::format("archive of debian11: nvidia-cuda-toolkit {} names no release of CUDA; a "
                                  "version such as 11.2.2-3 or 12.4.131~12.4.1-2 would",
                                  version));
    }
    CHECK(refused(stanza("nvidia-cuda-toolkit", "11.8.89~11.8.0-5")) ==
          "archive of debian11: nvidia-cuda-toolkit 11.8.89~11.8.0-5 comes without libcudart11.0 or another "
          "libcudart of that release");
    // A package without a name, and one without a version.
    CHECK(rows_shown(
              archive_news("Version: 11.8.0-1\n\nPackage: nvidia-cuda-toolkit\n\n", "debian11", facts)) ==
          fmt::format("nvidia-cuda-toolkit (debian11) {}: vanished \n",
                      facts.row("toolkit-debian11-archive-11.2")->text("package_version")));
}

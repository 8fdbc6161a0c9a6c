// Many images are filled side by side: as if each were alone.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "temp_folder.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;

namespace {

constexpr std::size_t kMany = 300;  // above what one thread gets

// Images that differ in the number which they get as A.
test::Planned many_images() {
    std::string yaml = "set: {cuda: \"11.8.0\", os: debian12}\naxes: {env: [";
    for (std::size_t i = 0; i < kMany; ++i)
        yaml += fmt::format("{}{{A: \"{}\"}}", i == 0 ? "" : ", ", 1000 + i);
    auto out = test::planned(yaml + "]}\n");
    REQUIRE(out.plan.images.size() == kMany);
    return out;
}

}  // namespace

TEST_CASE("each of many images has the files that it has alone") {
    const auto planned = many_images();
    const auto all = render_artifacts(planned.matrix, planned.plan.images, {}, {});
    REQUIRE(all.ok());
    std::map<std::string, std::string> contents;
    for (const auto& file : all->artifacts)
        contents[file.path.generic_string()] = file.content;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < kMany; i += 23) {
        const auto& image = planned.plan.images[i];
        const auto alone = render_artifacts(planned.matrix, {image}, {}, {});
        REQUIRE(alone.ok());
        CHECK(all->images[i].id == image.id);
        CHECK(all->images[i].inputs == alone->images.front().inputs);
        CHECK(all->images[i].proof_inputs == alone->images.front().proof_inputs);
        for (const auto& file : alone->artifacts) {
            const auto path = file.path.generic_string();
            if (!path.starts_with("images/")) continue;
            CHECK_MESSAGE(contents.at(path) == file.content, path);
            ++compared;
        }
    }
    CHECK(compared == 6 * (kMany / 23 + 1));
}

TEST_CASE("a template's mistake is told for the first image that has it") {
    const auto planned = many_images();
    const test::TempFolder folder;
    folder.put("debian/Dockerfile.mustache", "FROM {{ image.nothing | word }}\n");
    RenderSettings settings;
    settings.templates = folder.path();
    const auto shown = [&](const std::vector<Image>& images) {
        const auto failed = render_artifacts(planned.matrix, images, {}, settings);
        REQUIRE_FALSE(failed.ok());
        std::string out;
        for (const auto& one : failed.failure().diagnostics)
            out += fmt::format("{}:{}: {}\n", one.where.line, one.where.column, one.message);
        return out;
    };
    CHECK(shown(planned.plan.images) == "1:6: there is no value image.nothing\n");
    CHECK(shown(planned.plan.images) == shown({planned.plan.images.front()}));
}

// Whatever text stands in whatever place of a matrix file, it is refused, or the emitted files consist of the
// lines that harmless text gives.
#include <doctest/doctest.h>

#include <set>

#include "base/text.hpp"
#include "emitted.hpp"
#include "matrix/matrix_file.hpp"
#include "matrix/yaml.hpp"
#include "unit/render/injection/matrix_places.hpp"
#include "unit/render/injection/payloads.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kAttacked = R"(version: 1
name: injection
axes: {gpu: [T4, H100], cuda: ["11.8.0"], driver: ["580.65.06"], os: [debian12]}
include: [{gpu: T4, driver: "580.65.06", torch: 2.6.0+cu124, python: "3.11", os: debian12, family: debian}]
set: {family: debian}
build: {base_from: auto, network: host, ca_bundle: /etc/ssl/site-ca.pem, netrc: site.netrc, user: app}
mirrors: {pypi: "https://wheels.example.org/simple", docker.io: registry.example.org/hub}
images: [{name: app, when: {gpu: [T4, H100]}, apt: [git], env: {A: "b"}}]
emit:
  registry: registry.example.org/team
  kubernetes: {namespace: tests, queue: team-a}
  slurm: {start: pyxis, partition: gpu}
  tool: https://git.example.org/tools/cudamatrix@0123456789abcdef0123456789abcdef01234567
  machines:
    - {when: {gpu: T4}, labels: [self-hosted, gpu-t4], gpu: true}
    - {when: {gpu: H100}, labels: ["queue=h100"], gpu: false}
)";

bool is_of_word(char c) {
    return text::is_word(c) || std::string_view("._+-/").find(c) != std::string_view::npos;
}

// A line with each word of harmless characters as one 'w', and words beside one another as one. A colon and
// an equals sign inside a word are a part of it.
std::string shape(std::string_view line) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool joins = (c == ':' || c == '=') && out.ends_with('w') && i + 1 < line.size() &&
                           (is_of_word(line[i + 1]) || line[i + 1] == c);
        const bool in_word = is_of_word(c) || joins;
        if (!in_word && !(c == ' ' && out.ends_with('w')))
            out += c;
        else if (in_word && !out.ends_with('w'))
            out += 'w';
    }
    // A word in quotes is one, and so are several in a list.
    for (const auto& [from, to] : {std::pair{"\"w\"", "w"}, std::pair{"'w'", "w"}})
        out = text::replace_all(out, from, to);
    while (out.find("w, w") != std::string::npos)
        out = text::replace_all(out, "w, w", "w");
    return out;
}

using Shapes = std::set<std::string>;

// Nothing where the text is refused.
std::optional<Shapes> shapes_of(const std::string& text) {
    auto matrix = read_matrix_text(text, "matrix.yaml");
    if (!matrix.ok()) return std::nullopt;
    test::Planned planned{std::move(matrix).value(), {}};
    planned.plan = test::plan_of(planned.matrix);
    const test::EmitInput made(std::move(planned));
    Shapes out;
    for (const auto& emitter : emit::all_emitters()) {
        const auto files = emit::write_all(emitter, made.input());
        if (!files.ok()) {
            CHECK(files.failure().code == ExitCode::bad_input);
            return std::nullopt;
        }
        for (const auto& file : *files) {
            if (file.path.string().find_first_of(" '\"\\$`\n") != std::string::npos) out.insert("FILE NAME");
            for (const auto& line : text::split(file.content, '\n')) {
                if (text::printable(line) != line) out.insert("CONTROL CHARACTER");
                out.insert(fmt::format("{}: {}", emitter.name, shape(line)));
            }
        }
    }
    return out;
}

std::vector<std::string> harmless(const Place& place) {
    std::vector<std::string> all{
        "marker",  "1",
        "2.6.0",   "none",
        "true",    "a",
        "9.0",     ">=1",
        "<1",      "gcc-11",
        "a==b",    "a=b",
        "=",       "@marker",  // in the name of a file
        "default", "https://git.example.org/a@0123456789abcdef0123456789abcdef01234567"};
    if (const auto field = field_named(place.field)) {
        const auto& choices = info(*field).choices;
        all.insert(all.end(), choices.begin(), choices.end());
    }
    return all;
}

}  // namespace

TEST_CASE("no value and no key of a matrix file changes the structure of any emitted file") {
    const auto file = yaml::parse(kAttacked, "matrix.yaml");
    REQUIRE(file.ok());
    const auto as_is = shapes_of(std::string(kAttacked));
    REQUIRE(as_is);
    const auto found = places_in(*file, matrix_schema());
    std::size_t tried = 0, refused = 0, kept = 0, attacked = 0;
    for (const auto& place : found.all) {
        if (place.kind == Place::Kind::field) continue;
        ++attacked;
        for (const auto& value : hostile_values()) {
            CAPTURE(place.name);
            CAPTURE(value.substr(0, 100));
            ++tried;
            auto got = shapes_of(with_value(*file, place, value));
            if (!got) {
                ++refused;
                continue;
            }
            ++kept;
            std::erase_if(*got, [&](const auto& one) { return as_is->contains(one); });
            if (got->empty()) continue;
            Shapes known;
            for (const auto& other : harmless(place)) {
                if (auto more = shapes_of(with_value(*file, place, other))) known.merge(*more);
            }
            for (const auto& one : *got)
                CHECK_MESSAGE(known.contains(one), one);
        }
    }
    MESSAGE(fmt::format("{} places, {} texts: {} refused, {} written without changing the structure",
                        attacked, tried, refused, kept));
    CHECK(attacked > 50);
    CHECK(refused > 1000);
    CHECK(kept > 100);
}

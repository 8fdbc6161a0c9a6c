// Usual spellings: read as what they mean, everywhere, and said.
#include "matrix/spelling.hpp"

#include "matrix/condition.hpp"
#include "matrix/value.hpp"
#include "support.hpp"

using namespace cudamatrix;

namespace {

struct Spelled {
    Field field;
    std::string_view written;
    std::string_view meant;
};

// As the facts know names.
std::string names(Field field, std::string_view text) {
    if (field == Field::os && (text == "jammy" || text == "Ubuntu 22.04")) return "ubuntu22.04";
    if (field == Field::os && text == "broken") return "Not A Slug";
    return field == Field::gpu && text == "rtx5090" ? "RTX 5090" : "";
}

Matrix read(std::string_view text) {
    auto result = read_matrix_text(text, "matrix.yaml", {}, names);
    if (!result.ok()) FAIL(matrix_test::rendered(result.failure().diagnostics, text));
    return std::move(result).value();
}

std::string notes(const Matrix& matrix) {
    std::string out;
    for (const auto& note : spelling_notes(matrix))
        out += render(note, {});
    return out;
}

}  // namespace

TEST_CASE("spellings of other tools mean values of ours") {
    for (const auto& each : std::initializer_list<Spelled>{
             {Field::torch, "v2.6.0", "2.6.0"},
             {Field::torch, "V2.6", "2.6"},
             {Field::torch, "v2.6.0+cu124", "2.6.0+cu124"},
             {Field::cuda, "cu128", "12.8"},
             {Field::cuda, "cu92", "9.2"},
             {Field::cuda, "cu12", "12"},
             {Field::cuda, "cuda12.4", "12.4"},
             {Field::cuda, "cuda-12.4.1", "12.4.1"},
             {Field::cuda, "CUDA 12.4", "12.4"},
             {Field::cuda, "cuda124", "12.4"},
             {Field::cuda, "cuda11", "11"},
             {Field::compute, "90", "9.0"},
             {Field::compute, "120", "12.0"},
             {Field::compute, "sm_90", "9.0"},
             {Field::compute, "sm_90a", "9.0a"},
             {Field::compute, "sm86", "8.6"},
             {Field::compute, "sm_13", "1.3"},
             {Field::compute, "compute_100f", "10.0f"},
             {Field::arch, "amd64", "x86_64"},
             {Field::arch, "arm64", "aarch64"},
             {Field::arch, "x86-64", "x86_64"},
             {Field::compiler, "gcc 11", "gcc-11"},
             {Field::compiler, "gcc11.4", "gcc-11.4"},
             {Field::compiler, "GCC-11", "gcc-11"},
             {Field::compiler, "g++-11", "gcc-11"},
             {Field::compiler, "clang++ 14", "clang-14"},
             {Field::compiler, "vs2022", "msvc-2022"},
             {Field::compiler, "Visual Studio 2022", "msvc-2022"},
             {Field::compiler, "cl 19.40", "msvc-19.40"},
         }) {
        CAPTURE(each.written);
        CHECK(usual_spelling(each.field, each.written) == each.meant);
        CHECK(usual_spelling(each.field, each.meant).empty());
        CHECK_FALSE(check_scalar(each.field, each.meant));
    }
}

TEST_CASE("what no tool writes, or could mean several things, is no spelling") {
    const std::pair<Field, std::vector<std::string_view>> cases[]{
        {Field::torch,
         {"", "v", "vv2.6.0", "v 2.6.0", "torch2.6.0", "v2.6.x", "version2.6", "2.6.0", "none"}},
        {Field::cuda,
         {"", "cu", "cu1", "cu12x", "cu1248", "cu12.", "cuda", "cuda4", "cuda--12.4", "cuda 12 4", "128",
          "cpu", "cucu128", "cu-128", "rocm6.1", "none", "12.8"}},
        {Field::compute,
         {"", "9", "sm_9", "sm_", "sm_90x", "sm_9000", "05", "12", "10", "11a", "sm_-90", "ms_90",
          "compute90", "90+PTX", "9.0"}},
        {Field::arch, {"", "x86", "i386", "arm", "armv7", "AARCH64", "amd", "amd 64", "x86_64"}},
        {Field::compiler,
         {"", "gcc", "11", "gcc  11", "gcc--11", "gcc_11", "gccx11", "gcc version 11", "icc 19", "g++", "vs",
          "nvcc-12", "11-gcc", "gcc-11"}},
        {Field::os, {"jammy", "Ubuntu 22.04", "ubuntu-22.04"}},
        {Field::gpu, {"rtx5090", "a100-80gb"}},
        {Field::driver, {"v550", "nvidia-550", "R550"}},
        {Field::python, {"py312", "cp312", "python3.12", "v3.12"}},
    };
    for (const auto& each : cases) {
        for (const auto text : each.second)
            CHECK_MESSAGE(usual_spelling(each.first, text).empty(), info(each.first).name, ": ", text);
    }
}

TEST_CASE("a matrix in other spellings is the matrix in ours") {
    const std::string written = R"(version: 1
axes:
  torch: [v2.6.0+cu124, 2.7.1]
  cuda: [cu128, cuda12.4]
set: {arch: amd64, compute: 90, gpu: rtx5090, os: jammy}
include:
  - {torch: none, cuda: CUDA 11.8, compiler: gcc 11, os: Ubuntu 22.04}
exclude:
  - {torch: ">=v2.7,<v2.8", cuda: [cu128, "<cu118"]}
rules:
  - {id: mine, when: {os: jammy}, require: {compute: ">=sm_80"}, because: x}
waive:
  - {rule: end-of-life, when: {arch: amd64}, because: x, until: 2027-01-01}
images:
  - {name: one, when: {gpu: rtx5090}}
)";
    const std::string ours = R"(version: 1
axes:
  torch: [2.6.0+cu124, 2.7.1]
  cuda: ["12.8", "12.4"]
set: {arch: x86_64, compute: 9.0, gpu: RTX 5090, os: ubuntu22.04}
include:
  - {torch: none, cuda: 11.8, compiler: gcc-11, os: ubuntu22.04}
exclude:
  - {torch: ">=2.7,<2.8", cuda: ["12.8", "<11.8"]}
rules:
  - {id: mine, when: {os: ubuntu22.04}, require: {compute: ">=8.0"}, because: x}
waive:
  - {rule: end-of-life, when: {arch: x86_64}, because: x, until: 2027-01-01}
images:
  - {name: one, when: {gpu: RTX 5090}}
)";
    const auto theirs = read(written), same = read(ours);
    CHECK(matrix_test::ids(theirs) == matrix_test::ids(same));
    CHECK(matrix_test::ids(theirs).size() == 4);
    const auto texts = [](const Condition& condition) {
        std::string out;
        for (const auto& clause : condition.clauses)
            out += fmt::format("{} {}\n", info(clause.field).name, alternatives_text(clause));
        return out;
    };
    CHECK(texts(theirs.exclude.front()) == texts(same.exclude.front()));
    CHECK(texts(theirs.rules.front().when) == texts(same.rules.front().when));
    CHECK(texts(theirs.rules.front().require) == texts(same.rules.front().require));
    CHECK(texts(theirs.waivers.front().when) == texts(same.waivers.front().when));
    CHECK(texts(theirs.deployment.images.front().when) == texts(same.deployment.images.front().when));
    CHECK(same.respelt.empty());
    // Once for each value, at its first place.
    CHECK(notes(theirs) == R"(matrix.yaml:3:11: note: "v2.6.0+cu124" is read as torch 2.6.0+cu124
matrix.yaml:4:10: note: "cu128" is read as cuda 12.8
matrix.yaml:4:17: note: "cuda12.4" is read as cuda 12.4
matrix.yaml:5:13: note: "amd64" is read as arch x86_64
matrix.yaml:5:29: note: "90" is read as compute 9.0
matrix.yaml:5:38: note: "rtx5090" is read as gpu RTX 5090
matrix.yaml:5:51: note: "jammy" is read as os ubuntu22.04
matrix.yaml:7:25: note: "CUDA 11.8" is read as cuda 11.8
matrix.yaml:7:46: note: "gcc 11" is read as compiler gcc-11
matrix.yaml:7:58: note: "Ubuntu 22.04" is read as os ubuntu22.04
matrix.yaml:9:13: note: "v2.7" is read as torch 2.7
matrix.yaml:9:13: note: "v2.8" is read as torch 2.8
matrix.yaml:9:43: note: "cu118" is read as cuda 11.8
matrix.yaml:11:54: note: "sm_80" is read as compute 8.0
)");
}

TEST_CASE("without names of the facts their spellings are what they were") {
    CHECK(matrix_test::ids(matrix_test::accepted("version: 1\nset: {os: jammy, gpu: rtx5090}\n")) ==
          std::vector<std::string>{"rtx5090-jammy"});
    CHECK(matrix_test::refusal("version: 1\nset: {os: Ubuntu 22.04}\n") ==
          "2:11: invalid os \"Ubuntu 22.04\": expected a distribution and release such as ubuntu22.04 or "
          "debian12 | write ubuntu22.04");
}

TEST_CASE("a name that is no value of its field is not taken") {
    CHECK(read("version: 1\nset: {os: broken}\n").set.front().second.text == "broken");
}

TEST_CASE("patterns and what a list field holds are left alone") {
    const auto matrix = read(
        "version: 1\naxes: {os: [jammy, debian12]}\nset: {uses: [v2]}\n"
        "exclude: [{os: \"jam*\"}]\n");
    CHECK(matrix_test::ids(matrix).size() == 2);
    CHECK(matrix.exclude.front().clauses.front().any_of.front().front().operand == "jam*");
    CHECK(matrix.respelt.size() == 1);
}

TEST_CASE("the words of the command line") {
    const Spelling spelling = [](Field field, std::string_view text) {
        auto meant = usual_spelling(field, text);
        return meant.empty() ? names(field, text) : meant;
    };
    CHECK(respelled_alternative(Field::cuda, ">=cu118, < cu128", spelling) == ">=11.8,<12.8");
    CHECK(respelled_alternative(Field::cuda, ">= 11.8,<12", spelling) == ">= 11.8,<12");
    CHECK(respelled_alternative(Field::cuda, "cu12x", spelling) == "cu12x");
    CHECK(respelled_alternative(Field::os, "jammy", spelling) == "ubuntu22.04");
    CHECK(respelled_alternative(Field::os, "jammy,jammy", spelling) == "jammy,jammy");  // no conjunction
    CHECK(respelled_values("cuda=cu128,torch=>=v2.6,<v2.8,os=jammy", spelling) ==
          "cuda=12.8,torch=>=2.6,<2.8,os=ubuntu22.04");
    CHECK(respelled_values("jammy,cudaa=cu128,=cu128", spelling) == "jammy,cudaa=cu128,=cu128");
    CHECK(respelled_values("cuda=cu128,python=cu128", spelling) == "cuda=12.8,python=cu128");
    CHECK(respelled_values("", spelling).empty());
}

TEST_CASE("the schema takes each spelling of a closed list") {
    const auto schema = matrix_schema();
    std::set<std::string> words;
    for (const auto& form : schema["definitions"]["arch"]["anyOf"]) {
        for (const auto& word : form["enum"])
            words.insert(word.get<std::string>());
    }
    CHECK(words.size() == info(Field::arch).choices.size() + spellings_of_choices(Field::arch).size());
    for (const auto& word : words)
        CHECK_MESSAGE(matrix_test::reads("set: {arch: " + word + "}\n"), word);
    for (const auto& field : all_fields()) {
        if (field.field != Field::arch) CHECK(spellings_of_choices(field.field).empty());
    }
}

TEST_CASE("nightly builds: their parts, and ids of their own") {
    const auto nightly = nightly_of("2.9.0.dev20250812+cu128");
    REQUIRE(nightly);
    CHECK(nightly->number == "2.9.0");
    CHECK(nightly->day == "20250812");
    CHECK(nightly->release() == "2.9.0+cu128");
    CHECK(nightly_of("2.9.0.dev20250812")->release() == "2.9.0");
    for (const std::string_view text : {"", "none", "2.9.0", "2.9.0+cu128", "2.9.0.dev", "2.9.0.dev20251399",
                                        "2.9.0dev20250812", "2.9.0+x.dev20250812", ".dev20250812"})
        CHECK_FALSE_MESSAGE(nightly_of(text), text);
    const auto matrix = matrix_test::accepted(
        "version: 1\naxes: {torch: [2.9.0.dev20250812+cu128, 2.9.0.dev20250812, 2.9.0, 2.9.0.dev20250813]}\n");
    CHECK(matrix_test::ids(matrix) == std::vector<std::string>{"torch2.9.0.dev20250812_cu128",
                                                               "torch2.9.0.dev20250812", "torch2.9.0",
                                                               "torch2.9.0.dev20250813"});
    CHECK(matrix.respelt.empty());
    CHECK(matrix_test::refusal("version: 1\naxes: {torch: [2.9.0.dev20250812, v2.9.0.dev20250812]}\n") ==
          "2:35: torch: \"2.9.0.dev20250812\" appears twice: first at 2:16 | delete one of the two");
}

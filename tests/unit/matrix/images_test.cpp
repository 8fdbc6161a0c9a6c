// images and services as the reader keeps them, and the files of requirements beside a matrix file. Mistakes
// in the matrix file itself: tests/malformed.
#include "matrix/deployment/extended_cell.hpp"
#include "support.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using matrix_test::accepted;
namespace fs = std::filesystem;

namespace {

const std::string kWithFile =
    "version: 1\naxes: {cuda: [\"11.8.0\"]}\nimages: [{name: app, pip: requirements.txt}]\n";

// What reading says of a requirements file: "5:1: message | fix", one line each.
std::string problems(const test::TempFolder& folder, const std::string& requirements) {
    folder.put("requirements.txt", requirements);
    const auto result = read_matrix_file(folder.put("matrix.yaml", kWithFile));
    if (result.ok()) return "";
    CHECK(result.failure().code == ExitCode::bad_input);
    std::string out;
    for (const auto& each : result.failure().diagnostics) {
        CHECK(each.where.file == (folder.path() / "requirements.txt").string());
        out += fmt::format("{}:{}+{}: {}{}\n", each.where.line, each.where.column, each.where.length,
                           each.message, each.fix.empty() ? "" : " | " + each.fix);
    }
    return out;
}

}  // namespace

TEST_CASE("what images and services say is kept, with its places") {
    const auto matrix = accepted(R"(version: 1
axes: {cuda: ["11.8.0"]}
images:
  - {name: train, when: {cuda: "11.8"}, apt: [git, g++-11], pip: [numpy==1.26.4], copy: [{from: a/b.c, to: /x/y}], env: {A: b}}
services:
  - name: one
    command: [a, "b c", "$HOME", a]
    gpu: ["0", "GPU-3a1c0000-1111-2222-3333-444455556666"]
    capabilities: [compute]
    shm_size: 8g
    ulimits: {memlock: -1, nofile: {soft: 1, hard: 2}}
    volumes: ["cache:/cache", "./a/b:/data:ro", ".:/all"]
    ports: ["80", "8080:80", "127.0.0.1:53:53/udp"]
    environment: {C: "d=e:f,g"}
    healthcheck: {test: [true], interval: 500ms, timeout: 10s, start_period: 1h, retries: 3}
    restart: no
  - {name: two, image: train, gpu: all, depends_on: [one]}
  - {name: three, gpu: 4, healthcheck: [a, b]}
)");
    const auto& deployment = matrix.deployment;
    REQUIRE(deployment.images.size() == 1);
    const auto& image = deployment.images.front();
    CHECK(image.where == Location{"matrix.yaml", 4, 12, 5});
    CHECK(fmt::format("{} {} {} {}", image.name, image.when.clauses.size(), image.apt.size(),
                      image.apt.at(1).text) == "train 1 2 g++-11");
    CHECK(fmt::format("{} {} {} {} {}{}", image.pip.at(0).name, image.pip.at(0).value, image.copy.at(0).from,
                      image.copy.at(0).to, image.env.at(0).name,
                      image.env.at(0).value) == "numpy 1.26.4 a/b.c /x/y Ab");

    REQUIRE(deployment.services.size() == 3);
    const auto& one = deployment.services[0];
    CHECK(one.command == std::vector<std::string>{"a", "b c", "$HOME", "a"});
    CHECK(one.gpu.ids.size() == 2);
    CHECK(one.gpu.asked());
    REQUIRE(one.gpu.capabilities.size() == 1);
    CHECK(one.gpu.capabilities[0].text == "compute");
    CHECK(one.gpu.capabilities[0].where.line == 9);
    std::string volumes;
    for (const auto& each : one.volumes)
        volumes += fmt::format("{}>{} {}{}; ", each.source, each.target, each.named() ? "named" : "folder",
                               each.read_only ? " ro" : "");
    CHECK(volumes == "cache>/cache named; ./a/b>/data folder ro; .>/all folder; ");
    CHECK(one.ulimits[0].soft + one.ulimits[0].hard + one.ulimits[1].soft + one.ulimits[1].hard == "-1-112");
    CHECK(fmt::format("{} {} {}", one.ports[2].text, one.environment[0].value, one.restart) ==
          "127.0.0.1:53:53/udp d=e:f,g no");
    const auto& health = one.healthcheck;
    CHECK(fmt::format("{} {} {} {}", health.interval, health.timeout, health.start_period, health.retries) ==
          "500ms 10s 1h 3");
    CHECK(one.image.text.empty());
    const auto& two = deployment.services[1];
    CHECK(two.gpu.all);
    CHECK(two.image.text + " " + two.depends_on[0].text == "train one");
    CHECK(deployment.services[2].gpu.count == 4);
    CHECK(deployment.services[2].healthcheck.test.size() == 2);
}

TEST_CASE("a file of requirements is read from beside the matrix file") {
    const test::TempFolder folder;
    folder.put("requirements.txt",
               "# ours\n\nnumpy==1.26.4\r\n  Pillow == 10.4.0   # pictures\nx==0.0.26.post1");
    const auto matrix = read_matrix_file(folder.put("matrix.yaml", kWithFile));
    REQUIRE(matrix.ok());
    const auto& deployment = matrix->deployment;
    const auto& pip = deployment.images.front().pip;
    REQUIRE(pip.size() == 3);
    CHECK(pip[1].name + " " + pip[1].value == "Pillow 10.4.0");
    CHECK(pip[1].where.line == 4);
    CHECK(pip[1].where.column == 3);
    CHECK(pip[2].value == "0.0.26.post1");
    CHECK(problems(folder, "").empty());
}

TEST_CASE("what is not exact in a file of requirements is refused, all of it at once, with its place") {
    const test::TempFolder folder;
    const std::string form = ", expected an exact requirement such as numpy==1.26.4";
    CHECK(problems(folder,
                   "numpy>=1\nnumpy\n  -r more.txt\na==1 "
                   "--hash=sha256:00\na[b]==1\na==1;os_name=='nt'\ntorch==2.6.0\nx==1\nX==2\n") ==
          "1:1+8: pip: found \"numpy>=1\"" + form + " | write NAME==VERSION\n" +
              "2:1+5: pip: found \"numpy\"" + form + "\n" + "3:3+11: pip: found \"-r more.txt\"" + form +
              " | write the packages themselves; indexes go under mirrors\n" +
              "4:1+21: pip: found \"a==1 --hash=sha256:00\"" + form +
              " | delete the hashes: `cudamatrix lock` writes them for every dependency\n" +
              "5:1+7: pip: found \"a[b]==1\"" + form + " | write the packages that the extra installs\n" +
              "6:1+18: pip: found \"a==1;os_name=='nt'\"" + form +
              " | delete the marker: an image has one Python\n" +
              "7:1+12: pip: torch is a field of its own | write torch: 2.6.0 under axes or set\n" +
              "9:1+4: pip: X appears twice: first at 8:1 | keep one of the two\n");
    folder.put("requirements.txt", text::replace_all(std::string(3000, 'x'), "x", "bad\n"));
    const auto result = read_matrix_file(folder.put("matrix.yaml", kWithFile));
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().diagnostics.size() == 100);
}

TEST_CASE("a file of requirements that cannot be read is named where it is asked for") {
    const test::TempFolder folder;
    const auto path = folder.put("matrix.yaml", kWithFile);
    const auto message = [&] {
        const auto result = read_matrix_file(path);
        REQUIRE_FALSE(result.ok());
        REQUIRE(result.failure().diagnostics.size() == 1);
        const auto& diagnostic = result.failure().diagnostics.front();
        CHECK(diagnostic.where.line == 3);
        CHECK(diagnostic.where.column == 27);
        return diagnostic.message;
    };
    const auto file = (folder.path() / "requirements.txt").string();
    CHECK(message() == "pip: cannot read " + file + ": No such file or directory");
    folder.put("requirements.txt", "numpy==1\n\xff\n");
    CHECK(message() == "pip: requirements.txt is not valid UTF-8 at byte 10");
    fs::remove(file);
    fs::create_directory(file);
    CHECK(message() == "pip: cannot read " + file + ": it is a directory");
}

TEST_CASE("a cell with what an entry adds") {
    const auto matrix = accepted(
        "version: 1\nset: {cuda: \"11.8.0\", packages: {num_py: \"1.0\"}, env: {A: \"1,2\", B: x}}\n");
    for_each_cell(matrix, [](const Cell& cell) {
        ExtendedCell extended(cell);
        CHECK(extended.add_packages({}).empty());
        CHECK(extended.cell().get(Field::packages) == cell.get(Field::packages));
        CHECK(extended.add_packages({{"timm", "0.6.13", {}}, {"Num.Py", "1.0", {}}}).empty());
        CHECK(extended.cell().get(Field::packages)->text == "num_py=1.0,timm=0.6.13");
        CHECK(extended.add_packages({{"num-py", "2.0", {}}}) ==
              "num-py 2.0, where packages of the cell say 1.0");
        CHECK(extended.cell().get(Field::packages)->text == "num_py=1.0,timm=0.6.13");
        CHECK(extended.add_env({{"C", "y", {}}}).empty());
        CHECK(extended.add_env({{"A", "1", {}}}) == "A 1, where env of the cell say 1,2");
        extended.set_env({{"A", "3", {}}, {"D", "z", {}}});
        CHECK(extended.cell().get(Field::env)->text == "A=3,B=x,C=y,D=z");
        CHECK(cell.get(Field::env)->text == "A=1,2,B=x");
        return true;
    });
}

// The published schema: as the file in matrix/ has it, in step with what the reader takes, and true of every
// matrix file that we ship.
#include "matrix/matrix_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "matrix/field.hpp"
#include "matrix/schema_texts.hpp"
#include "support.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

const fs::path kFile = fs::path(source_dir()) / "matrix" / "schema.json";

std::string keys_of(const Json& properties) {
    std::vector<std::string> names;
    for (const auto& [name, value] : properties.items())
        names.push_back(name);
    return text::join(names, ", ");
}

// The keys that the reader says it takes, where it finds one that nothing is near to.
std::string keys_for_reader(const std::string& yaml) {
    const auto result = read_matrix_text("version: 1\nset: {cuda: \"11.8.0\"}\n" + yaml, "matrix.yaml");
    REQUIRE_FALSE(result.ok());
    const std::string begin = "use one of: ";
    for (const auto& each : result.failure().diagnostics) {
        if (each.fix.starts_with(begin)) return each.fix.substr(begin.size());
    }
    return "";
}

// Without the folders whose files are to be refused.
std::vector<std::string> accepted_files() {
    std::vector<std::string> files{(fs::path(source_dir()) / "matrix" / "default.yaml").string()};
    for (const auto& folder : {fs::path(source_dir()) / "examples", fs::path(tests_dir()) / "render",
                               fs::path(tests_dir()) / "golden"}) {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.path().filename() == "matrix.yaml") files.push_back(entry.path().string());
        }
    }
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "docs" / "examples"))
        files.push_back(entry.path().string());
    return files;
}

// The descriptions below `json`; of each key that has none, its name in `bare`, and of each whose text is
// wrong about being required in `wrong`.
struct Descriptions {
    std::set<std::string> said;
    std::vector<std::string> bare, wrong;

    void walk(const Json& json) {
        if (!json.is_structured()) return;
        if (json.is_object() && json.contains("properties")) {
            const auto required = json.value("required", std::vector<std::string>{});
            for (const auto& [name, property] : json["properties"].items())
                add(name, property, std::find(required.begin(), required.end(), name) != required.end());
        }
        for (const auto& [name, member] : json.items()) {
            if (name != "axes" && name != "definitions") walk(member);
        }
    }
    void add(const std::string& name, const Json& property, bool required) {
        const auto text = property.value("description", std::string());
        said.insert(text);
        if (text.empty()) bare.push_back(name);
        if (text.ends_with("Required.") != required) wrong.push_back(name);
    }
};

}  // namespace

TEST_CASE("the file in matrix/ is the schema of the program") {
    const auto text = to_text(matrix_schema()) + "\n";
    if (std::getenv("CUDAMATRIX_UPDATE_GOLDEN") != nullptr) std::ofstream(kFile, std::ios::binary) << text;
    CHECK(text == matrix_test::slurp(kFile));
}

TEST_CASE("the schema has the keys of the reader, no more and no fewer") {
    const auto schema = matrix_schema();
    const auto& top = schema["properties"];
    const auto item = [&](const char* section) -> const Json& {
        return top[section]["anyOf"][0]["items"]["properties"];
    };
    const auto& ulimits = item("services")["ulimits"]["properties"];
    const std::pair<Json, std::string> maps[] = {
        {top, "? : 1"},
        {top["build"]["anyOf"][0]["properties"], "build: {? : 1}"},
        {item("rules"), "rules: [{? : 1}]"},
        {item("waive"), "waive: [{? : 1}]"},
        {item("images"), "images: [{? : 1}]"},
        {item("images")["copy"]["items"]["properties"], "images: [{name: a, copy: [{? : 1}]}]"},
        {item("services"), "services: [{? : 1}]"},
        {top["emit"]["anyOf"][0]["properties"], "emit: {? : 1}"},
        {top["emit"]["anyOf"][0]["properties"]["machines"]["items"]["properties"],
         "emit: {machines: [{? : 1}]}"},
        {top["emit"]["anyOf"][0]["properties"]["kubernetes"]["properties"], "emit: {kubernetes: {? : 1}}"},
        {top["emit"]["anyOf"][0]["properties"]["slurm"]["properties"], "emit: {slurm: {? : 1}}"},
        {ulimits, "services: [{name: a, ulimits: {? : 1}}]"},
        {ulimits["memlock"]["anyOf"][1]["properties"], "services: [{name: a, ulimits: {memlock: {? : 1}}}]"},
        {item("services")["healthcheck"]["anyOf"][1]["properties"],
         "services: [{name: a, healthcheck: {? : 1}}]"}};
    for (const auto& [properties, yaml] : maps)
        CHECK(keys_of(properties) == keys_for_reader(text::replace_all(yaml, "? ", "qqqqqqqqqq")));
    const auto fields = text::join(field_names(), ", ");
    CHECK(keys_of(schema["definitions"]["values"]["properties"]) == fields);
    CHECK(keys_of(schema["definitions"]["condition"]["properties"]) == fields);
}

TEST_CASE("every key says what it means, and no text is left over") {
    const auto schema = matrix_schema();
    Descriptions found;
    found.walk(schema);
    CHECK(text::join(found.bare, ", ") == "");
    CHECK(text::join(found.wrong, ", ") == "");
    CHECK(schema["properties"]["axes"]["description"] == schema_text("axes"));
    for (const auto& row : schema_texts()) {
        const auto key = row.key;
        const auto said = row.text;
        CAPTURE(std::string(key));
        CHECK(said.ends_with('.'));
        if (!key.starts_with("fields.")) {
            CHECK(found.said.contains(std::string(said)));
            continue;
        }
        const auto name = std::string(key.substr(std::string_view("fields.").size()));
        REQUIRE(field_named(name).has_value());
        CHECK(schema["definitions"][name]["description"] ==
              fmt::format("{} Expects {}.", said, info(*field_named(name)).accepts));
    }
    for (const auto& name : field_names())
        CHECK(schema_text("fields." + name) != "");
    CHECK(schema_text("fields.") == "");
}

TEST_CASE("every matrix file of ours is valid by the schema, and one that is refused for its keys is not") {
    const char* path = std::getenv("PATH");
    const Environment environment{{"PATH", path == nullptr ? "/usr/bin:/bin" : path}};
    if (!find_program("check-jsonschema", environment)) {
        MESSAGE("not validated: check-jsonschema is not on PATH (tests/run.sh installs it)");
        return;
    }
    const auto validated = [&](const std::vector<std::string>& files) {
        Command command;
        command.argv = {"check-jsonschema", "--schemafile", kFile.string()};
        command.argv.insert(command.argv.end(), files.begin(), files.end());
        command.environment = environment;
        command.time_limit = std::chrono::seconds(120);
        auto outcome = cudamatrix::run(command);
        REQUIRE(outcome.ok());
        return std::move(*outcome);
    };
    const auto files = accepted_files();
    CHECK(files.size() > 20);
    const auto all = validated(files);
    CHECK_MESSAGE(all.success(), all.out, all.err);
    for (const char* name : {"unknown-key", "images-mistakes", "images-copy", "packages-torch",
                             "services-mistakes", "services-resources"}) {
        CAPTURE(name);
        CHECK_FALSE(
            validated({(fs::path(tests_dir()) / "malformed" / (std::string(name) + ".yaml")).string()})
                .success());
    }
}

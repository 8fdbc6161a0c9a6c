#include "matrix/matrix_file.hpp"

#include "matrix/field.hpp"
#include "matrix/reader.hpp"
#include "matrix/spelling.hpp"

namespace cudamatrix {
namespace {

Json word(const std::string& description = {}) {
    return description.empty() ? Json{{"type", "string"}}
                               : Json{{"type", "string"}, {"description", description}};
}

Json one_of(const std::vector<std::string>& words) {
    return {{"enum", words}};
}

Json defined(const std::string& name) {
    return {{"$ref", "#/definitions/" + name}};
}

Json list_of(Json items) {
    return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}};
}

Json map_of(Json values) {
    return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Json either(std::vector<Json> forms) {
    return {{"anyOf", std::move(forms)}};
}

// A map with these keys and no others.
Json object(Json properties, const std::vector<std::string>& required = {}) {
    Json json{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) json["required"] = required;
    return json;
}

// A section without a value is one that is not there.
Json or_nothing(Json json) {
    return either({std::move(json), {{"type", "null"}}});
}

// Words and numbers, which YAML tells apart where the user does not.
Json of_types(const std::vector<std::string>& types) {
    return {{"type", types}};
}

Json value_of(const FieldInfo& field) {
    Json json;
    switch (field.syntax) {
        case Syntax::choice:
            json = one_of(field.choices);
            if (auto others = spellings_of_choices(field.field); !others.empty())
                json = either({std::move(json), one_of(others)});
            break;
        case Syntax::count:
            json = of_types({"integer", "string", "boolean"});
            break;
        case Syntax::name_list:
            json = either({word(), list_of(word())});
            break;
        case Syntax::string_map:
            json = map_of(of_types({"string", "number", "boolean"}));
            // A field of its own, whichever case its letters have.
            if (field.field == Field::packages)
                json["propertyNames"] = {{"not", {{"pattern", "^[Tt][Oo][Rr][Cc][Hh]$"}}}};
            break;
        default:
            json = of_types({"string", "number"});  // versions may be written without quotes: 12.4, 13
    }
    json["description"] = std::string(field.accepts);
    if (field.field == Field::flavour)
        json["description"] =
            "base: CUDA's runtime library; runtime: its math libraries and NCCL too; devel: nvcc";
    return json;
}

// Of every field a value (set, include), a value or a list (axes), or what a condition may ask.
Json fields(Json (*of)(const FieldInfo&)) {
    Json properties = Json::object();
    for (const auto& field : all_fields())
        properties[std::string(field.name)] = of(field);
    return object(std::move(properties));
}

Json axis_of(const FieldInfo& field) {
    const auto value = defined(std::string(field.name));
    return either({value, list_of(value)});
}

Json asked_of(const FieldInfo& field) {
    if (field.syntax == Syntax::string_map) return false;
    const Json condition = of_types({"string", "number", "boolean"});
    return either({condition, list_of(condition)});
}

Json ref_of(const FieldInfo& field) {
    return defined(std::string(field.name));
}

Json definitions() {
    Json json = Json::object();
    for (const auto& field : all_fields())
        json[std::string(field.name)] = value_of(field);
    json["values"] = fields(ref_of);
    json["condition"] = fields(asked_of);
    json["condition"]["minProperties"] = 1;
    json["variables"] = map_of(of_types({"string", "number", "boolean"}));
    json["argv"] = list_of(of_types({"string", "number", "boolean", "null"}));
    json["name"] = {{"type", "string"}, {"pattern", "^[a-z0-9][a-z0-9_-]{0,31}$"}};
    return json;
}

Json rule() {
    return object({{"id", word("findings are named by it")},
                   {"when", defined("condition")},
                   {"require", defined("condition")},
                   {"because", word("the reason, which is what the finding says")},
                   {"source", word()},
                   {"stage", one_of(stage_names())},
                   {"severity", one_of({"error", "warning"})}},
                  {"id", "require", "because"});
}

Json waiver() {
    return object({{"rule", word("whose findings are accepted")},
                   {"when", defined("condition")},
                   {"because", word("the reason")},
                   {"until", word("the last day, such as 2027-03-31")}},
                  {"rule", "because", "until"});
}

Json healthcheck() {
    const auto time = word("30s");
    const auto check = object({{"test", defined("argv")},
                               {"interval", time},
                               {"timeout", time},
                               {"start_period", time},
                               {"retries", of_types({"integer", "string"})}},
                              {"test"});
    return either({defined("argv"), check});
}

Json image() {
    return object({{"name", defined("name")},
                   {"when", defined("condition")},
                   {"apt", list_of(word())},
                   {"pip", either({word("a requirements file next to the matrix file"),
                                   list_of(word("numpy==1.26.4"))})},
                   {"copy", list_of(object({{"from", word("a file or folder next to the matrix file")},
                                            {"to", word("an absolute path in the image")}},
                                           {"from", "to"}))},
                   {"env", defined("variables")},
                   {"healthcheck", healthcheck()}},
                  {"name"});
}

Json resources() {
    const Json limit = of_types({"integer", "string"});
    const auto limits = either({limit, object({{"soft", limit}, {"hard", limit}}, {"soft", "hard"})});
    return {
        {"gpu", either({{{"type", "integer"}, {"minimum", 0}, {"maximum", 64}},
                        word("all, or a number"),
                        list_of(of_types({"string", "integer"}))})},
        {"capabilities", list_of(word("compute, utility ...: cudamatrix facts show gpu_capabilities"))},
        {"shm_size", word("8g, 512m")},
        {"ulimits", object({{"memlock", limits}, {"nofile", limits}, {"nproc", limits}, {"stack", limits}})},
        {"volumes", list_of(word("cache:/cache, ./data:/data:ro"))},
        {"ports", list_of(of_types({"string", "integer"}))}};
}

Json service() {
    Json properties{{"name", defined("name")}, {"image", defined("name")}, {"command", defined("argv")}};
    properties.update(resources());
    properties["environment"] = defined("variables");
    properties["healthcheck"] = healthcheck();
    properties["depends_on"] = list_of(defined("name"));
    // YAML 1.1 reads no without quotes as false.
    properties["restart"] = one_of({"no", "always", "on-failure", "unless-stopped"});
    properties["restart"]["enum"].push_back(false);
    return object(std::move(properties), {"name"});
}

Json machine() {
    return object({{"when", defined("condition")},
                   {"labels", list_of(word("runs-on, tags, queue or label of the jobs"))},
                   {"gpu", {{"type", "boolean"}}}},
                  {"labels"});
}

Json sections() {
    return {{"version", {{"enum", {1, "1"}}}},
            {"name", word("names the output folder")},
            {"expect_cells", of_types({"integer", "string"})},
            {"axes", or_nothing(fields(axis_of))},
            {"zip", or_nothing(list_of(list_of(word())))},
            {"exclude", or_nothing({{"type", "array"}, {"items", defined("condition")}})},
            {"include", or_nothing({{"type", "array"}, {"items", defined("values")}})},
            {"set", or_nothing(defined("values"))},
            {"keep", or_nothing({{"type", "array"}, {"items", defined("condition")}})},
            {"rules", or_nothing({{"type", "array"}, {"items", rule()}})},
            {"waive", or_nothing({{"type", "array"}, {"items", waiver()}})},
            {"stages", list_of(one_of(stage_names()))},
            {"build", or_nothing(object({{"base_from", one_of({"auto", "registry", "bootstrap"})},
                                         {"ca_bundle", word("the path of a PEM file")},
                                         {"cache", one_of({"mounts", "none"})},
                                         {"netrc", word("the path of a netrc file")},
                                         {"network", one_of({"none", "host", "default"})},
                                         {"snapshot", word("auto, none, a day (2026-11-01) or a time")},
                                         {"user", word()},
                                         {"workdir", word("an absolute path in the images")}}))},
            {"mirrors", or_nothing(map_of(word()))},
            {"images", or_nothing(list_of(image()))},
            {"services", or_nothing(list_of(service()))},
            {"emit",
             or_nothing(object({{"tool", word("the git URL of cudamatrix, @ and a commit")},
                                {"machines", list_of(machine())},
                                {"registry", word("where clusters find the images")},
                                {"kubernetes", object({{"namespace", word()}, {"queue", word()}})},
                                {"slurm", object({{"start", one_of({"run", "pyxis", "apptainer", "podman"})},
                                                  {"partition", word()}})}}))}};
}

}  // namespace

Json matrix_schema() {
    Json json{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "A matrix file of cudamatrix"}};
    json.update(object(sections(), {"version"}));
    json["definitions"] = definitions();
    return json;
}

}  // namespace cudamatrix

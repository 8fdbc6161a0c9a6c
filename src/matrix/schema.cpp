#include "matrix/matrix_file.hpp"

#include "matrix/field.hpp"
#include "matrix/reader.hpp"
#include "matrix/schema_texts.hpp"
#include "matrix/spelling.hpp"

namespace cudamatrix {
namespace {

Json word() {
    return {{"type", "string"}};
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

// A map with these keys, each with what it means. Beside a reference a description does not count.
Json told(const std::string& section, Json properties, const std::vector<std::string>& required = {}) {
    for (auto& [name, json] : properties.items()) {
        if (json.contains("$ref")) json = {{"allOf", {std::move(json)}}};
        json["description"] = schema_text(section.empty() ? name : section + "." + name);
    }
    return object(std::move(properties), required);
}

// A section without a value is one that is not there.
Json or_nothing(Json json) {
    return either({std::move(json), {{"type", "null"}}});
}

// Words and numbers, which YAML tells apart where the user does not.
Json of_types(const std::vector<std::string>& types) {
    return {{"type", types}};
}

Json whole_number() {
    return of_types({"integer", "string"});
}

Json truth_value() {
    return {{"enum", {true, false, "true", "false"}}};
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
    json["description"] =
        fmt::format("{} Expects {}.", schema_text(fmt::format("fields.{}", field.name)), field.accepts);
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
    return told("rules",
                {{"id", word()},
                 {"when", defined("condition")},
                 {"require", defined("condition")},
                 {"because", word()},
                 {"source", word()},
                 {"stage", one_of(stage_names())},
                 {"severity", one_of({"error", "warning"})}},
                {"id", "require", "because"});
}

Json waiver() {
    return told("waive",
                {{"rule", word()}, {"when", defined("condition")}, {"because", word()}, {"until", word()}},
                {"rule", "because", "until"});
}

Json healthcheck() {
    const auto check = told("images.healthcheck",
                            {{"test", defined("argv")},
                             {"interval", word()},
                             {"timeout", word()},
                             {"start_period", word()},
                             {"retries", whole_number()}},
                            {"test"});
    return either({defined("argv"), check});
}

Json image() {
    return told("images",
                {{"name", defined("name")},
                 {"when", defined("condition")},
                 {"apt", list_of(word())},
                 {"pip", either({word(), list_of(word())})},
                 {"copy", list_of(told("images.copy", {{"from", word()}, {"to", word()}}, {"from", "to"}))},
                 {"env", defined("variables")},
                 {"healthcheck", healthcheck()}},
                {"name"});
}

Json limits() {
    const Json limit = whole_number();
    const auto both = told("services.ulimits.limit", {{"soft", limit}, {"hard", limit}}, {"soft", "hard"});
    const auto one = either({limit, both});
    return told("services.ulimits", {{"memlock", one}, {"nofile", one}, {"nproc", one}, {"stack", one}});
}

Json service() {
    // YAML 1.1 reads no without quotes as false.
    auto restart = one_of({"no", "always", "on-failure", "unless-stopped"});
    restart["enum"].push_back(false);
    return told("services",
                {{"name", defined("name")},
                 {"image", defined("name")},
                 {"command", defined("argv")},
                 {"gpu", either({{{"type", "integer"}, {"minimum", 0}, {"maximum", 64}},
                                 word(),
                                 list_of(of_types({"string", "integer"}))})},
                 {"capabilities", list_of(word())},
                 {"shm_size", word()},
                 {"ulimits", limits()},
                 {"volumes", list_of(word())},
                 {"ports", list_of(of_types({"string", "integer"}))},
                 {"environment", defined("variables")},
                 {"healthcheck", healthcheck()},
                 {"depends_on", list_of(defined("name"))},
                 {"restart", std::move(restart)}},
                {"name"});
}

Json build() {
    return told("build", {{"base_from", one_of({"auto", "registry", "bootstrap"})},
                          {"ca_bundle", word()},
                          {"cache", one_of({"mounts", "none"})},
                          {"netrc", word()},
                          {"network", one_of({"none", "host", "default"})},
                          {"snapshot", word()},
                          {"user", word()},
                          {"workdir", word()}});
}

Json emit() {
    const auto machine = told(
        "emit.machines",
        {{"when", defined("condition")}, {"labels", list_of(word())}, {"gpu", truth_value()}}, {"labels"});
    return told("emit",
                {{"tool", word()},
                 {"machines", list_of(machine)},
                 {"registry", word()},
                 {"kubernetes", told("emit.kubernetes", {{"namespace", word()}, {"queue", word()}})},
                 {"slurm", told("emit.slurm", {{"start", one_of({"run", "pyxis", "apptainer", "podman"})},
                                               {"partition", word()}})}});
}

Json expect() {
    return told("expect", {{"cells", whole_number()}, {"keys", whole_number()}, {"end", truth_value()}});
}

Json top() {
    return told("",
                {{"version", {{"enum", {1, "1"}}}},
                 {"name", word()},
                 {"expect", expect()},
                 {"expect_cells", whole_number()},
                 {"axes", or_nothing(fields(axis_of))},
                 {"zip", or_nothing(list_of(list_of(word())))},
                 {"exclude", or_nothing({{"type", "array"}, {"items", defined("condition")}})},
                 {"include", or_nothing({{"type", "array"}, {"items", defined("values")}})},
                 {"set", or_nothing(defined("values"))},
                 {"keep", or_nothing({{"type", "array"}, {"items", defined("condition")}})},
                 {"rules", or_nothing({{"type", "array"}, {"items", rule()}})},
                 {"waive", or_nothing({{"type", "array"}, {"items", waiver()}})},
                 {"stages", list_of(one_of(stage_names()))},
                 {"build", or_nothing(build())},
                 {"mirrors", or_nothing(map_of(word()))},
                 {"images", or_nothing(list_of(image()))},
                 {"services", or_nothing(list_of(service()))},
                 {"emit", or_nothing(emit())}},
                {"version"});
}

}  // namespace

Json matrix_schema() {
    Json json{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "A matrix file of cudamatrix"}};
    json.update(top());
    json["definitions"] = definitions();
    return json;
}

}  // namespace cudamatrix

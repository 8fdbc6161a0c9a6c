// All places of a matrix file where a text can stand, found in a file and in the schema.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "matrix/yaml.hpp"

/// Where something stands: at each level the number of a member or an item.
using Path = std::vector<std::size_t>;

struct Place {
    enum class Kind { value, key, field } kind;
    Path path;          ///< of the value, of the value below the key, or of the map that takes the field
    std::string name;   ///< "images[].env.*", for messages
    std::string field;  ///< of kind field
    std::string form;   ///< of kind field: "value", "list", "name" and "text" of a map
    bool open = false;  ///< a text of the user's: no key of a closed list, and no list or map
};

struct Places {
    std::vector<Place> all;
    std::set<std::string> field_maps;  ///< "images[].when": maps whose keys are the fields of a cell
    std::set<std::string> wanted;      ///< the keys that the schema knows in the maps of the file
    std::set<std::string> present;     ///< those that the file has
};

/// Every value (lists and maps, too) and every key of `file`, and each field of all_fields() in every map
/// that takes fields.
Places places_in(const cudamatrix::yaml::Node& file, const cudamatrix::Json& schema);

/// `file` as text with `value` in that place, in quotes.
std::string with_value(const cudamatrix::yaml::Node& file, const Place& place, const std::string& value);

// `check --format json`, and its schema. What many cells share stands once: facts, findings, and the lists of
// what was not checked.
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/check_parts.hpp"
#include "report/json.hpp"
#include "report/matrix_reports.hpp"

namespace cudamatrix::report {
namespace {

Json shared_finding(const FindingGroup& group) {
    auto out = finding_json(group);
    out["facts"] = json_list(group.finding.facts, [](const FactRef& fact) { return fact.id; });
    out["cells"] = group.cells;
    return out;
}

Json facts_used(const Judgement& judgement) {
    auto out = Json::object();
    for (const auto& group : judgement.findings) {
        for (auto& fact : facts_json(group.finding.facts)) {
            const auto id = fact["id"].get<std::string>();
            fact.erase("id");
            out[id] = std::move(fact);
        }
    }
    return out;
}

}  // namespace

std::string check_json(const CheckReport& report) {
    const auto& judgement = report.judgement;
    JsonDocument document(report.tool, kCheckSchema);
    document.member("matrix", matrix_json(report));
    if (report.host != nullptr) document.member("host", host_json(*report.host));
    document.member("verdicts", verdicts_json(judgement.verdicts));
    document.member("warnings", diagnostics_json(warnings_and_spellings(report)));
    document.begin_array("cells");
    std::map<std::vector<std::string_view>, std::size_t> lists;
    for (const auto& cell : judgement.cells) {
        const auto list = lists.emplace(cell.not_checked, lists.size()).first->second;
        Json line{{"id", cell.id},
                  {"fields", fields_json(cell.cell)},
                  {"verdict", to_string(cell.verdict)},
                  {"stages", stages_json(cell)},
                  {"findings", cell.findings},
                  {"not_checked", list}};
        if (!cell.held.empty()) line["held"] = cell.held;
        document.element(line);
    }
    document.end_array();
    document.array("findings", judgement.findings, shared_finding);
    document.member("facts_used", facts_used(judgement));
    std::vector<std::vector<std::string_view>> not_checked(lists.size());
    for (const auto& [list, number] : lists)
        not_checked[number] = list;
    document.array("not_checked", not_checked, [](const auto& list) { return Json(list); });
    return std::move(document).finish();
}

std::string_view check_schema() {
    return R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "cudamatrix check --format json",
  "type": "object",
  "required": ["schema_version", "tool", "version", "facts", "matrix", "verdicts", "warnings", "cells", "findings", "facts_used", "not_checked"],
  "additionalProperties": false,
  "properties": {
    "schema_version": {"const": 2, "description": "grows when a key goes or changes its meaning; new keys may come"},
    "tool": {"const": "cudamatrix"},
    "version": {"type": "string"},
    "facts": {
      "type": "object",
      "required": ["date", "hash"],
      "additionalProperties": false,
      "description": "the knowledge that was used",
      "properties": {"date": {"type": "string"}, "hash": {"type": "string"}, "warning": {"type": "string", "description": "the facts are old"}}
    },
    "matrix": {
      "type": "object",
      "required": ["name", "path", "cells"],
      "additionalProperties": false,
      "properties": {
        "name": {"type": "string"},
        "path": {"type": "string"},
        "cells": {"type": "integer", "minimum": 0},
        "stages": {"type": "array", "items": {"$ref": "#/definitions/stage"}, "description": "those that decide, where the file says so"}
      }
    },
    "host": {"type": "object", "description": "with --host: what was found on this machine"},
    "verdicts": {
      "type": "object",
      "required": ["accepted", "degraded", "rejected", "unknown"],
      "additionalProperties": false,
      "description": "cells by verdict",
      "properties": {
        "accepted": {"type": "integer"},
        "degraded": {"type": "integer"},
        "rejected": {"type": "integer"},
        "unknown": {"type": "integer"}
      }
    },
    "warnings": {
      "type": "array",
      "description": "what is odd in the file, and what images: and services: lack",
      "items": {
        "type": "object",
        "required": ["severity", "message", "file", "line", "column", "notes", "fix"],
        "additionalProperties": false,
        "properties": {
          "severity": {"$ref": "#/definitions/severity"},
          "message": {"type": "string"},
          "file": {"type": "string"},
          "line": {"type": "integer", "minimum": 0},
          "column": {"type": "integer", "minimum": 0},
          "notes": {"type": "array", "items": {"type": "string"}},
          "fix": {"type": "string"}
        }
      }
    },
    "cells": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["id", "fields", "verdict", "stages", "findings", "not_checked"],
        "additionalProperties": false,
        "properties": {
          "id": {"type": "string"},
          "fields": {"type": "object", "description": "as the file writes them; versions are text"},
          "verdict": {"$ref": "#/definitions/verdict"},
          "stages": {
            "type": "object",
            "propertyNames": {"$ref": "#/definitions/stage"},
            "additionalProperties": {"$ref": "#/definitions/verdict"},
            "minProperties": 7
          },
          "findings": {"type": "array", "items": {"type": "integer", "minimum": 0}, "description": "positions in findings"},
          "not_checked": {"type": "integer", "minimum": 0, "description": "position in not_checked"},
          "held": {"type": "string", "description": "what images: or services: add to the cell that no fact knows"}
        }
      }
    },
    "findings": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["rule", "stage", "severity", "message", "fix", "fixes", "facts", "field", "file", "line", "column", "cells"],
        "additionalProperties": false,
        "properties": {
          "rule": {"type": "string"},
          "stage": {"$ref": "#/definitions/stage"},
          "severity": {"$ref": "#/definitions/severity"},
          "message": {"type": "string"},
          "fix": {"type": "string", "description": "all fixes in one sentence; empty: none is known"},
          "fixes": {
            "type": "array",
            "items": {
              "type": "object",
              "required": ["text", "set", "exclude"],
              "additionalProperties": false,
              "properties": {
                "text": {"type": "string"},
                "set": {"type": "object", "additionalProperties": {"type": "string"}},
                "exclude": {"type": "object", "additionalProperties": {"type": "string"}}
              }
            }
          },
          "facts": {"type": "array", "items": {"type": "string"}, "description": "keys of facts_used"},
          "lifecycle": {
            "type": "object",
            "required": ["end", "successor"],
            "additionalProperties": false,
            "properties": {"end": {"type": ["string", "null"], "description": "YYYY-MM-DD or YYYY-MM"}, "successor": {"type": "string"}}
          },
          "waived": {
            "type": "object",
            "required": ["because", "until", "line"],
            "additionalProperties": false,
            "properties": {"because": {"type": "string"}, "until": {"type": "string"}, "line": {"type": "integer"}}
          },
          "field": {"type": "string"},
          "file": {"type": "string"},
          "line": {"type": "integer", "minimum": 0},
          "column": {"type": "integer", "minimum": 0},
          "cells": {"type": "integer", "minimum": 0, "description": "how many share it"}
        }
      }
    },
    "facts_used": {
      "type": "object",
      "description": "by id",
      "additionalProperties": {
        "type": "object",
        "required": ["source", "sources", "as_of", "confidence"],
        "additionalProperties": false,
        "properties": {
          "source": {"type": "string", "description": "the first of sources"},
          "sources": {"type": "array", "items": {"type": "string"}},
          "as_of": {"type": "string"},
          "confidence": {"enum": ["measured", "read", "unverified"]},
          "old": {"const": true}
        }
      }
    },
    "not_checked": {
      "type": "array",
      "description": "lists of \"rule: field\": what no rule could ask for want of the field",
      "items": {"type": "array", "items": {"type": "string"}}
    }
  },
  "definitions": {
    "verdict": {"enum": ["accepted", "degraded", "unknown", "rejected"]},
    "severity": {"enum": ["error", "warning", "unknown", "note", "notice"]},
    "stage": {"enum": ["driver_load", "image_pull", "container_start", "install", "build", "runtime", "torch_compile"]}
  }
}
)json";
}

}  // namespace cudamatrix::report

"""Bills of materials are valid by the formats' own rules: those that unit.report compares byte by byte, and other FILEs.
Usage: sbom_schema_test.py SOURCE_DIR [FILE...]   (python packages spdx-tools and cyclonedx-python-lib[json-validation])"""
import json
import pathlib
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

GOLDEN = pathlib.Path(sys.argv[1]) / "tests/golden_reports"


def mistakes_in_spdx(text):
    try:
        document = JsonLikeDictParser().parse(json.loads(text))
    except Exception as error:  # its parser has no common class of errors
        return [str(error)]
    return [message.validation_message for message in validate_full_spdx_document(document, "SPDX-2.3")]


def mistakes_in_cyclonedx(text):
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return [] if error is None else [str(error)]


for name, mistakes_in, spoilt in (("sbom.spdx.json", mistakes_in_spdx, ('"SPDXRef-1-', '"SPDXRef-1_')),
                                  ("sbom.cdx.json", mistakes_in_cyclonedx, ('"library"', '"book"'))):
    good = (GOLDEN / name).read_text()
    assert not mistakes_in(good), f"{name}: {mistakes_in(good)}"
    bad = good.replace(*spoilt)
    assert bad != good and mistakes_in(bad), f"{name}: the validator accepts {spoilt[1]}"
    print(f"{name}: valid")
for path in map(pathlib.Path, sys.argv[2:]):
    mistakes = (mistakes_in_spdx if path.name.endswith(".spdx.json") else mistakes_in_cyclonedx)(path.read_text())
    assert not mistakes, f"{path.name}: {mistakes}"
    print(f"{path.name}: valid")

"""Numbers in addresses: at most as long as a database can look up."""

from django.urls import register_converter
from django.urls.converters import IntConverter


class IdConverter(IntConverter):
    regex = "[0-9]{1,15}"


register_converter(IdConverter, "id")

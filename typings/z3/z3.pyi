from typing import Any

from . import Ast, Context

def _to_expr_ref(ast: Ast, ctx: Context) -> Any: ...

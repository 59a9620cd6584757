"""Chat templates: Jinja programs that come with a model and turn a conversation into its prompt.

They are run as `transformers` runs them: the same sandbox, functions and variables, so that the
text is the same and with it the ids. This package knows nothing of tokenizers;
:meth:`tokexport.Tokenizer.apply_chat_template` gives it the templates of a file. Of a template that
only puts fixed texts between messages it finds these, for where no Jinja runs: its frame.
"""
